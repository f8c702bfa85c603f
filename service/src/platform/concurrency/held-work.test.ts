// Tests when work gives its slot back.
import { expect, onTestFinished, test, vi } from 'vitest';
import { maxHeldSlots, watchHeldSlot } from './held-work.ts';

const LONG = { timeout: 20_000 };

test('one of several slots stays free for other owners', () => {
  expect([1, 2, 4].map(maxHeldSlots)).toEqual([1, 1, 3]);
});

type Held = Parameters<typeof watchHeldSlot>[0];

function watch(held: Partial<Held>): AbortSignal {
  const { signal, close } = watchHeldSlot({
    isWanted: async () => true,
    mayKeep: () => false,
    onError: () => undefined,
    ...held,
  });
  onTestFinished(close);
  return signal;
}

test('work gives its slot back when it may not keep it and another owner waits', async () => {
  const signal = watch({});
  expect(signal.aborted).toBe(false);
  await expect.poll(() => signal.aborted, LONG).toBe(true);
});

test('work keeps its slot while nobody waits', async () => {
  const isWanted = vi.fn(async () => false);
  const signal = watch({ isWanted });
  await expect.poll(() => isWanted.mock.calls.length, LONG).toBe(2);
  expect(signal.aborted).toBe(false);
});

test('work that may keep its slot does not ask for others', async () => {
  const isWanted = vi.fn(async () => true);
  const heldMs: number[] = [];
  const mayKeep = (ms: number) => heldMs.push(ms) < 3;
  const signal = watch({ isWanted, mayKeep });
  await expect.poll(() => heldMs.length, LONG).toBe(2);
  expect([isWanted.mock.calls.length, signal.aborted]).toEqual([0, false]);
  await expect.poll(() => signal.aborted, LONG).toBe(true);
  expect(heldMs).toEqual([...heldMs].sort((a, b) => a - b));
});

test('work keeps its slot while the queue is not known', async () => {
  const errors: unknown[] = [];
  const isWanted = () => Promise.reject(new Error('no database'));
  const signal = watch({ isWanted, onError: (error) => errors.push(error) });
  await expect.poll(() => errors.length, LONG).toBe(2);
  expect(signal.aborted).toBe(false);
});
