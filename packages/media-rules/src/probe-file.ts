// Chooses the probe of a file by its kind.
import type { Input, InputFormat } from 'mediabunny';
import { AUDIO_FORMATS, probeAudio } from './probe-audio.ts';
import { PROBED_FORMATS, probeVideo } from './probe-video.ts';
import type { AudioContainer, DefaultContainer, ProbeResult } from './video-facts.ts';

export type ProbedFormat =
  | { readonly kind: 'video'; readonly container: DefaultContainer }
  | { readonly kind: 'audio'; readonly container: AudioContainer };

export const inputFormatsOf = ({ kind, container }: ProbedFormat): InputFormat[] =>
  kind === 'audio' ? AUDIO_FORMATS[container] : PROBED_FORMATS[container];

/** `input` has the formats of the file. Never rejects because of its bytes. */
export const probeFile = (input: Input, { kind, container }: ProbedFormat): Promise<ProbeResult> =>
  kind === 'audio' ? probeAudio(input, container) : probeVideo(input, container);
