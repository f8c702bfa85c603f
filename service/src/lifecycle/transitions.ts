// What may happen to a video within one attempt, as a value: the highest state wins, whatever the order of the reports (contract B6).
import type { StreamStatus } from '@mediary/contract/enums';

export type { StreamStatus };

/** `completed`: the caller says that the bytes are there. The others are what a provider reports. */
export type StreamEvent = 'completed' | 'started' | 'failed' | 'succeeded';

/** The state that an event leads to; undefined where it comes too late to move anything. */
export const TRANSITIONS = {
  pending_upload: { completed: 'processing', started: 'processing', failed: 'failed', succeeded: 'ready' },
  processing: { completed: undefined, started: 'processing', failed: 'failed', succeeded: 'ready' },
  failed: { completed: undefined, started: undefined, failed: 'failed', succeeded: 'ready' },
  ready: { completed: undefined, started: undefined, failed: undefined, succeeded: 'ready' },
} as const satisfies Record<StreamStatus, Record<StreamEvent, StreamStatus | undefined>>;

export const advance = (status: StreamStatus, event: StreamEvent): StreamStatus | undefined =>
  TRANSITIONS[status][event];
