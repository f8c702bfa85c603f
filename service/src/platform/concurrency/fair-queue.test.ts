// Tests the limits per key and in total, and the round-robin order of waiting keys.
import { expect, test } from 'vitest';
import { createFairQueue, type FairQueueLimits } from './fair-queue.ts';

const LIMITS: FairQueueLimits = { concurrency: 3, perKey: 2, maxWaitingPerKey: 3, maxWaitMs: 60_000 };

/** Records what has started; each piece of work ends when it is told to. */
function recorder(limits: Partial<FairQueueLimits> = {}) {
  const queue = createFairQueue({ ...LIMITS, ...limits });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (name: string) =>
    queue(name.charAt(0), () => {
      started.push(name);
      const { promise, resolve } = Promise.withResolvers<string>();
      ends.set(name, () => resolve(name));
      return promise;
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string) => {
    ends.get(name)?.();
    await settle();
  };
  return { add, end, settle, started };
}

test('one key cannot exceed its limit, so other keys can run', async () => {
  const { add, settle, started } = recorder();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void add(name);
  await settle();
  expect(started).toEqual(['a1', 'a2', 'b1']);
});

test('waiting keys are served round-robin, regardless of their backlogs', async () => {
  const { add, end, started } = recorder({ concurrency: 1, perKey: 1 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) void add(name);
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await end(name);
  expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('work above the waiting limit of a key is rejected, and other keys can still wait', async () => {
  const { add, settle, started, end } = recorder({ concurrency: 1 });
  const waiting = ['a1', 'a2', 'a3', 'a4'].map(add);
  await expect(add('a5')).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { reason: 'busy' } });
  void add('b1');
  await settle();
  for (const name of ['a1', 'a2', 'b1', 'a3', 'a4']) await end(name);
  expect([await Promise.all(waiting), started]).toEqual([
    ['a1', 'a2', 'a3', 'a4'],
    ['a1', 'a2', 'b1', 'a3', 'a4'],
  ]);
});

test('work that waits too long is rejected and never runs', async () => {
  const { add, end, started } = recorder({ concurrency: 1, maxWaitMs: 1 });
  const first = add('a1');
  await expect(add('a2')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await end('a1');
  await first;
  void add('a3');
  expect(started).toEqual(['a1', 'a3']);
});

test('failed work releases its slot', async () => {
  const queue = createFairQueue({ ...LIMITS, concurrency: 1 });
  const failing = () => Promise.reject(new Error('no'));
  const first = queue('a', failing);
  const second = queue('a', async () => 'done');
  await expect(first).rejects.toThrow('no');
  expect(await second).toBe('done');
});
