// Time limits that are longer than a timer can be.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withDeadline } from './deadline.ts';
import { TimeoutError } from '../errors.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const DAY_MS = 86_400_000;

/** Rejects when its signal aborts. */
const hang = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('an error of the request')));
  });

const start = (limitMs: number, signal?: AbortSignal) => {
  const end = vi.fn();
  withDeadline({ signal, limitMs, createError: () => new TimeoutError('late') }, hang).catch(end);
  return end;
};

test.each([1, 24, 30, 100])('a limit of %i days ends the work then', async (days) => {
  const end = start(days * DAY_MS);
  await vi.advanceTimersByTimeAsync(days * DAY_MS - 1);
  expect(end).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(end).toHaveBeenCalledWith(new TimeoutError('late'));
});

test('an infinite limit leaves the work to the signal of the caller', async () => {
  const controller = new AbortController();
  const end = start(Number.POSITIVE_INFINITY, controller.signal);
  await vi.advanceTimersByTimeAsync(400 * DAY_MS);
  expect(end).not.toHaveBeenCalled();
  controller.abort('enough');
  await vi.advanceTimersByTimeAsync(0);
  expect(end).toHaveBeenCalledWith('enough');
  expect(vi.getTimerCount()).toBe(0);
});
