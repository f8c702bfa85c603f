// Limits concurrent work in total and per key, and schedules waiting keys round-robin.
import { ServiceError } from '../errors.ts';

export type FairQueue = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export type FairQueueLimits = {
  readonly concurrency: number;
  readonly perKey: number;
  /** Further work for the key is rejected with UNAVAILABLE. */
  readonly maxWaitingPerKey: number;
  /** Work that has not started by then is rejected with UNAVAILABLE. */
  readonly maxWaitMs: number;
};

type Waiting = { readonly start: () => void };

export function createFairQueue(limits: FairQueueLimits): FairQueue {
  const running = new Map<string, number>();
  /** In round-robin order: the key that was served last is at the end. */
  const waiting = new Map<string, Waiting[]>();
  let total = 0;

  const canRun = (key: string) => total < limits.concurrency && (running.get(key) ?? 0) < limits.perKey;

  function claim(key: string): void {
    total += 1;
    running.set(key, (running.get(key) ?? 0) + 1);
  }

  function release(key: string): void {
    total -= 1;
    const left = (running.get(key) ?? 1) - 1;
    if (left > 0) running.set(key, left);
    else running.delete(key);
    startNext();
  }

  function startNext(): void {
    for (const [key, queue] of waiting) {
      if (!canRun(key)) continue;
      const next = queue.shift();
      waiting.delete(key);
      if (queue.length > 0) waiting.set(key, queue);
      claim(key);
      next?.start();
      return;
    }
  }

  function waitForSlot(key: string): Promise<void> {
    const queue = waiting.get(key) ?? [];
    if (queue.length >= limits.maxWaitingPerKey) throw busy();
    waiting.set(key, queue);
    return new Promise((resolve, reject) => {
      const entry: Waiting = {
        start: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(entry), 1);
        if (queue.length === 0) waiting.delete(key);
        reject(busy());
      }, limits.maxWaitMs);
      queue.push(entry);
    });
  }

  return async (key, work) => {
    if (canRun(key)) claim(key);
    else await waitForSlot(key);
    try {
      return await work();
    } finally {
      release(key);
    }
  };
}

const busy = () =>
  new ServiceError('UNAVAILABLE', 'Too many requests are waiting for the same work. Retry later.', {
    details: { reason: 'busy' },
  });
