// Uploads that can be paused, and queues that send a few files at a time.
import type { Asset } from '../api/assets.ts';
import { untilAborted } from '../backoff.ts';
import { createMemoryStore } from './resume-store.ts';
import type { UploadOptions, UploadProgress } from './upload-options.ts';

export type UploadState = 'waiting' | 'uploading' | 'paused' | 'done' | 'failed' | 'cancelled';

export type UploadHandle = {
  readonly file: Blob;
  readonly state: UploadState;
  /** The last progress; undefined until there is one. */
  readonly progress: UploadProgress | undefined;
  /**
   * The asset, as `media.upload` returns it; rejects as `media.upload` does, and with the reason of `cancel`.
   * It stays pending while the upload is paused.
   */
  readonly done: Promise<Asset>;
  /** Stops sending. What the target has stored is not sent again, where its protocol can continue. */
  pause(): void;
  resume(): void;
  /** Ends the upload for good. The asset, if it exists, expires. */
  cancel(reason?: unknown): void;
};

export type UploadQueue = {
  /** Starts the upload when fewer than `concurrency` others of the queue are running. */
  add(file: Blob, options?: UploadOptions): UploadHandle;
};

export type UploadQueueOptions = {
  /** Uploads at the same time. Default 2. */
  concurrency?: number | undefined;
};

type SendFile = (file: Blob, options: UploadOptions) => Promise<Asset>;

/** Resolves with a function that gives the slot back. */
type AcquireSlot = (signal: AbortSignal) => Promise<() => void>;

const DEFAULT_CONCURRENCY = 2;

export function createUploadQueue(
  send: SendFile,
  { concurrency = DEFAULT_CONCURRENCY }: UploadQueueOptions = {},
): UploadQueue {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new TypeError('`concurrency` is not a positive integer.');
  const acquire = createSlots(concurrency);
  return { add: (file, options = {}) => startUpload(send, { file, options, acquire }) };
}

function createSlots(count: number): AcquireSlot {
  let free = count;
  const waiting = new Set<() => void>();
  const release = (): void => {
    free += 1;
    const [next] = waiting;
    next?.();
  };
  const waitForTurn = async (signal: AbortSignal): Promise<void> => {
    let take = (): void => {};
    const turn = new Promise<void>((resolve) => {
      take = () => {
        waiting.delete(take);
        free -= 1;
        resolve();
      };
    });
    waiting.add(take);
    await untilAborted(turn, signal).catch((error: unknown) => {
      // Its turn may have come at the same moment.
      if (!waiting.delete(take)) release();
      throw error;
    });
  };
  return async (signal) => {
    signal.throwIfAborted();
    if (free > 0) free -= 1;
    else await waitForTurn(signal);
    return release;
  };
}

type NewUpload = {
  readonly file: Blob;
  readonly options?: UploadOptions | undefined;
  readonly acquire?: AcquireSlot;
};
type Upload = {
  state: UploadState;
  progress: UploadProgress | undefined;
  /** Ends the attempt that is running. */
  controller: AbortController;
  /** Why it was cancelled. */
  reason: unknown;
  /** Ends a pause. */
  wake: () => void;
};

const PAUSED = new Error('The upload is paused.');

export function startUpload(send: SendFile, { file, options = {}, acquire }: NewUpload): UploadHandle {
  const controller = new AbortController();
  const upload: Upload = { state: 'waiting', progress: undefined, controller, reason: undefined, wake() {} };
  const resume = toResume(file, options);
  const onProgress = (progress: UploadProgress): void => {
    upload.progress = progress;
    options.onProgress?.(progress);
  };
  const attempt = async (signal: AbortSignal): Promise<Asset> => {
    const release = await acquire?.(signal);
    try {
      signal.throwIfAborted();
      upload.state = 'uploading';
      return await send(file, { ...options, resume, signal, onProgress });
    } finally {
      release?.();
    }
  };
  const cancel = (reason: unknown = new DOMException('The upload was cancelled.', 'AbortError')): void => {
    if (!isOpen(upload.state)) return;
    Object.assign(upload, { state: 'cancelled', reason });
    upload.controller.abort(reason);
    upload.wake();
  };
  const { signal } = options;
  const onAbort = (): void => cancel(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const done = run(upload, attempt).finally(() => signal?.removeEventListener('abort', onAbort));
  // A caller may listen later, or to `state` alone.
  done.catch(() => {});
  if (signal?.aborted) onAbort();
  return toHandle(upload, { file, done, cancel });
}

const toHandle = (upload: Upload, given: Pick<UploadHandle, 'file' | 'done' | 'cancel'>): UploadHandle => ({
  ...given,
  get state() {
    return upload.state;
  },
  get progress() {
    return upload.progress;
  },
  pause: () => {
    if (upload.state !== 'waiting' && upload.state !== 'uploading') return;
    upload.state = 'paused';
    upload.controller.abort(PAUSED);
  },
  resume: () => {
    if (upload.state !== 'paused') return;
    upload.state = 'waiting';
    upload.wake();
  },
});

const isOpen = (state: UploadState): boolean => !['done', 'failed', 'cancelled'].includes(state);

async function run(upload: Upload, attempt: (signal: AbortSignal) => Promise<Asset>): Promise<Asset> {
  for (;;) {
    const { signal } = upload.controller;
    try {
      const asset = await attempt(signal);
      upload.state = 'done';
      return asset;
    } catch (error) {
      if (signal.reason !== PAUSED && isOpen(upload.state)) upload.state = 'failed';
      if (upload.state === 'failed') throw error;
    }
    while (upload.state === 'paused')
      await new Promise<void>((resolve) => {
        upload.wake = resolve;
      });
    if (upload.state === 'cancelled') throw upload.reason;
    upload.controller = new AbortController();
  }
}

let unnamed = 0;

/** A pause needs an entry to go on from, also where another call is not to continue the upload. */
function toResume(file: Blob, { resume }: UploadOptions): UploadOptions['resume'] {
  const { lastModified } = file as { readonly lastModified?: number };
  if (resume !== false && (resume?.key ?? lastModified) !== undefined) return resume;
  unnamed += 1;
  return { key: `unnamed-${unnamed}`, store: createMemoryStore() };
}
