// The table of states within one attempt: the most advanced state wins in any order of reports (contract B6).
import type { StreamStatus } from '@mediary/contract/enums';

/** `completed`: the caller completed the upload. The others are reported by providers. */
export type StreamEvent = 'completed' | 'started' | 'failed' | 'succeeded';

/** The state after an event; undefined if the event is too late to change it. */
export const TRANSITIONS = {
  pending_upload: { completed: 'processing', started: 'processing', failed: 'failed', succeeded: 'ready' },
  processing: { completed: undefined, started: 'processing', failed: 'failed', succeeded: 'ready' },
  failed: { completed: undefined, started: undefined, failed: 'failed', succeeded: 'ready' },
  ready: { completed: undefined, started: undefined, failed: undefined, succeeded: 'ready' },
} as const satisfies Record<StreamStatus, Record<StreamEvent, StreamStatus | undefined>>;

export const advance = (status: StreamStatus, event: StreamEvent): StreamStatus | undefined =>
  TRANSITIONS[status][event];
