// Examines an audio file before encoding: its sound, its cover and its chapters.
import { stat } from 'node:fs/promises';
import { MAX_CHAPTERS } from '@mediary/contract/schemas/assets/chapters';
import { toWarnings } from '@mediary/media-rules/warnings';
import type { Warning } from '../../../assets/asset.ts';
import { EncodeError } from '../../encoder.ts';
import { readFacts } from '../examine-source.ts';
import { createEncodeFailure, type Session } from '../ffmpeg-session.ts';
import type { AudioTrack } from '../../model/audio-track.ts';
import type { SourceFacts, SourceStream } from '../../model/source.ts';
import { assertDuration } from '../../plan/ladder/encode-cost.ts';
import { byDefault, toAudioTracks } from '../../plan/source/audio-tracks.ts';
import { isDecodableCover, isDecodableSound } from '../../plan/source/decoders.ts';
import { audioFactsArguments } from '../../plan/source/ffmpeg-input.ts';
import { codecName } from '../../plan/source/stream-choice.ts';

export type ExaminedAudio = {
  readonly track: AudioTrack;
  readonly cover: SourceStream | undefined;
  /** Null where only the whole file tells. */
  readonly durationSeconds: number | null;
  readonly kilobits: number;
  readonly facts: SourceFacts;
  readonly warnings: readonly Warning[];
};

/** Throws EncodeError for a file without sound that can be decoded. */
export async function examineAudio(session: Session): Promise<ExaminedAudio> {
  const { facts, code, log } = await readFacts(session, audioFactsArguments(session.input));
  if (facts.streams.length === 0) throw createEncodeFailure('not_media', log);
  const sounds = facts.streams.filter(({ kind }) => kind === 'Audio');
  const sound = chooseSound(byDefault(sounds), log);
  // The run decodes the beginning of the first one.
  if (code !== 0 && sound === sounds[0]) throw createEncodeFailure('not_media', log);
  const durationSeconds = isAlone(facts) ? knownDuration(facts, log) : null;
  if (durationSeconds !== null) assertDuration({ durationSeconds }, session.limits);
  const { size } = await stat(session.request.source);
  const [track] = toAudioTracks([sound]) as [AudioTrack];
  return {
    track,
    cover: facts.streams.find((stream) => stream.still && isDecodableCover(stream)),
    durationSeconds,
    kilobits: (size * 8) / 1000 / (durationSeconds ?? Number.POSITIVE_INFINITY),
    facts,
    warnings: [...toWarnings(traitsOf(facts, sound)), ...droppedTracks(sounds, sound)],
  };
}

function chooseSound(sounds: readonly SourceStream[], log: string): SourceStream {
  const [first] = sounds;
  if (!first) throw createEncodeFailure('no_audio_track', log);
  const sound = sounds.find(isDecodableSound);
  if (sound) return sound;
  throw new EncodeError('unsupported_codec', `The audio codec "${codecName(first)}" is not supported.`, log);
}

/** Else the duration of the file may be that of its pictures, or of another track. */
const isAlone = ({ streams }: SourceFacts): boolean =>
  streams.filter(({ kind, still }) => kind === 'Audio' || (kind === 'Video' && !still)).length === 1;

/** ffmpeg computes it from the bit rate of the first frames of a stream without header. */
const knownDuration = ({ durationSeconds }: SourceFacts, log: string): number | null =>
  log.includes('Estimating duration from bitrate') ? null : durationSeconds;

const traitsOf = ({ chapters = [] }: SourceFacts, { channels }: SourceStream) => ({
  audioChannels: [channels ?? null],
  hasDroppedChapters: chapters.length > MAX_CHAPTERS,
});

function droppedTracks(sounds: readonly SourceStream[], chosen: SourceStream): readonly Warning[] {
  const others = sounds.filter((sound) => sound !== chosen);
  if (others.length === 0) return [];
  const word = others.length === 1 ? 'stream' : 'streams';
  const names = others.map((sound) => `${sound.index} (${codecName(sound)})`).join(', ');
  return [
    {
      code: 'audio_tracks_dropped',
      message: `An audio asset has one track. Left out: ${word} ${names}.`,
    },
  ];
}
