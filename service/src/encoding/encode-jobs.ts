// The jobs that encode a video one after the other, each in a queue with slots of its own.

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

export const isLongVideo = (durationMs: number): boolean => durationMs > LONG_VIDEO_SECONDS * 1000;

type PlayableVideo = { readonly durationMs: number; readonly isDividable: boolean };

export function chooseRestJob({ isDividable, durationMs }: PlayableVideo): (typeof REST_JOBS)[number] {
  if (isDividable) return 'encode-divided';
  return isLongVideo(durationMs) ? 'encode-long-rest' : 'encode-rest';
}
