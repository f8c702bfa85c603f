// Tests that a buffer serves one response at a time, and that unused memory is freed.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BUFFER_BYTES, openResponseBuffers } from './response-buffers.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('each buffer is handed out once, up to the limit of the pool', () => {
  const buffers = openResponseBuffers();
  const acquired = Array.from({ length: 240 }, () => buffers.acquire());
  const offsets = acquired.map((one) => `${one?.buffer.byteOffset}`);
  expect(acquired.every((one) => one?.buffer.length === BUFFER_BYTES)).toBe(true);
  expect(new Set(acquired.map((one) => one?.buffer)).size).toBe(240);
  expect(new Set(offsets).size).toBe(40);
  expect(buffers.acquire()).toBeUndefined();
  for (const one of acquired) one?.release();
  vi.advanceTimersByTime(20_000);
});

test('unused memory is freed after a while, but not while a response uses it', () => {
  const buffers = openResponseBuffers();
  const [held, free] = [buffers.acquire(), buffers.acquire()];
  free?.release();
  vi.advanceTimersByTime(60_000);
  expect(held?.buffer.length).toBe(BUFFER_BYTES);
  held?.release();
  vi.advanceTimersByTime(60_000);
  expect(held?.buffer.length).toBe(0);
  expect(buffers.acquire()?.buffer.length).toBe(BUFFER_BYTES);
});
