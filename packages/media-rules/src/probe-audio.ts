// Reads the properties of an audio file with mediabunny, or finds out why it is refused.
import {
  ADTS,
  FLAC,
  type Input,
  type InputFormat,
  MATROSKA,
  MP3,
  MP4,
  OGG,
  QTFF,
  WAVE,
  WEBM,
} from 'mediabunny';
import { durationOf, isTruncated } from './probe-tracks.ts';
import type { AudioContainer, ProbeResult } from './video-facts.ts';
import { readChannels, undefinedIfBroken } from './video-traits.ts';

/** Only the declared container, because a playlist could open other files. */
export const AUDIO_FORMATS: Record<AudioContainer, InputFormat[]> = {
  mov: [MP4, QTFF],
  matroska: [MATROSKA, WEBM],
  ogg: [OGG],
  mp3: [MP3],
  aac: [ADTS],
  wav: [WAVE],
  flac: [FLAC],
};

/**
 * `input` has the formats of `container`. Pictures of the file are ignored. Never rejects because of the
 * bytes of the file.
 */
export async function probeAudio(input: Input, container: AudioContainer): Promise<ProbeResult> {
  const tracks = await undefinedIfBroken(input.getTracks());
  if (!tracks || tracks.length === 0) return { refused: 'not_media' };
  const sounds = tracks.filter((track) => track.isAudioTrack());
  const [sound] = sounds;
  if (!sound) return { refused: 'no_audio_track' };
  if (container === 'mov' && (await isTruncated([sound]))) return { refused: 'truncated' };
  return {
    facts: {
      width: null,
      height: null,
      durationMs: await durationOf(input, [sound]),
      hasVideo: tracks.some((track) => track.isVideoTrack()),
      hasAudio: true,
      traits: { audioChannels: (await readChannels(sounds)).slice(0, 1) },
    },
  };
}
