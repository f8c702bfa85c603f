// Buffers are lent to one response at a time, and freed when nobody needs them.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BUFFER_BYTES, lendBuffer } from './response-buffers.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('no two responses share a buffer, and there is an end to them', () => {
  const lent = Array.from({ length: 240 }, () => lendBuffer());
  const places = lent.map((one) => `${one?.buffer.byteOffset}`);
  expect(lent.every((one) => one?.buffer.length === BUFFER_BYTES)).toBe(true);
  expect(new Set(lent.map((one) => one?.buffer)).size).toBe(240);
  expect(new Set(places).size).toBe(40);
  expect(lendBuffer()).toBeUndefined();
  for (const one of lent) one?.giveBack();
  vi.advanceTimersByTime(20_000);
});

test('memory is freed once it was not used for a while, and never while a response holds it', () => {
  const [held, free] = [lendBuffer(), lendBuffer()];
  free?.giveBack();
  vi.advanceTimersByTime(60_000);
  expect(held?.buffer.length).toBe(BUFFER_BYTES);
  held?.giveBack();
  vi.advanceTimersByTime(60_000);
  expect(held?.buffer.length).toBe(0);
  expect(lendBuffer()?.buffer.length).toBe(BUFFER_BYTES);
});
