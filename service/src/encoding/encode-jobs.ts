// The jobs that encode a video one after the other, each in a queue with slots of its own.
import type { Asset } from '../assets/asset.ts';

/** Longer videos have queues of their own, so that a short one never waits for them. */
export const LONG_VIDEO_SECONDS = 120;

/** Encode what makes a video playable. */
const FIRST_JOBS = ['encode-asset', 'encode-long'] as const;

/** Encode the other renditions. */
export const REST_JOBS = ['encode-rest', 'encode-long-rest', 'encode-divided'] as const;

/** One of them waits or runs while a worker of this service still has to encode a video. */
export const ENCODE_JOBS = [...FIRST_JOBS, ...REST_JOBS] as const;

export type EncodeJobName = (typeof ENCODE_JOBS)[number];

export const isRestJob = (name: EncodeJobName): boolean => REST_JOBS.some((each) => each === name);

const isLongVideo = (durationMs: number): boolean => durationMs > LONG_VIDEO_SECONDS * 1000;

/** Sound is encoded many times faster than video. */
const LONG_AUDIO_SECONDS = 7200;

export const isLong = ({ kind, duration_ms: durationMs }: Pick<Asset, 'kind' | 'duration_ms'>): boolean =>
  kind === 'audio' ? (durationMs ?? 0) > LONG_AUDIO_SECONDS * 1000 : isLongVideo(durationMs ?? 0);

type PlayableVideo = { readonly durationMs: number; readonly isDividable: boolean };

export function chooseRestJob({ isDividable, durationMs }: PlayableVideo): (typeof REST_JOBS)[number] {
  if (isDividable) return 'encode-divided';
  return isLongVideo(durationMs) ? 'encode-long-rest' : 'encode-rest';
}
