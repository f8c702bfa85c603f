// Tests how often the progress of an encode is reported, and that errors do not stop the encode.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createEncodingContext, createTestLog } from '../context.fixture.ts';
import type { CallbackResult } from '../encoder-report.ts';
import { createProgressReporter } from './progress-reporter.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const HEAD = { asset_id: '01900000-0000-7000-8000-000000000000', attempt: 1, run: 1 };

function openReporter(deliver: (body: string) => Promise<CallbackResult>) {
  const { lines, log } = createTestLog();
  const onSuperseded = vi.fn();
  const { signal } = new AbortController();
  const ctx = createEncodingContext({ callback: { deliver }, log });
  const reporter = createProgressReporter(ctx, { head: HEAD, signal, onSuperseded });
  return { reporter, warnings: lines, onSuperseded };
}

test('is at most once a second, with the latest percentage, whatever ffmpeg prints', async () => {
  const sent: number[] = [];
  const { reporter } = openReporter(async (body) => {
    sent.push((JSON.parse(body) as { progress: number }).progress);
    return { processed: true };
  });
  reporter.start();
  for (let step = 1; step <= 300; step++) {
    await vi.advanceTimersByTimeAsync(10);
    reporter.update(step / 10, []);
  }
  await reporter.end();
  expect(sent).toEqual([0, 10, 20, 30]);
});

test('is not repeated while the percentage stays the same, and never falls', async () => {
  const sent: number[] = [];
  const { reporter } = openReporter(async (body) => {
    sent.push((JSON.parse(body) as { progress: number }).progress);
    return { processed: true };
  });
  reporter.start();
  for (const percent of [5, 5.9, 4, 6]) {
    await vi.advanceTimersByTimeAsync(1500);
    reporter.update(percent, []);
  }
  await reporter.end();
  expect(sent).toEqual([0, 5, 6]);
});

test('waits for the response to the last report', async () => {
  let active = 0;
  const counts: number[] = [];
  const { reporter } = openReporter(async () => {
    active += 1;
    counts.push(active);
    return new Promise((resolve) => {
      setTimeout(() => {
        active -= 1;
        resolve({ processed: true });
      }, 5000);
    });
  });
  reporter.start();
  for (let percent = 1; percent < 20; percent++) {
    await vi.advanceTimersByTimeAsync(1000);
    reporter.update(percent, []);
  }
  expect(counts.length).toBeGreaterThan(2);
  expect(Math.max(...counts)).toBe(1);
});

test('tells that the run was superseded, and logs a report that is not delivered', async () => {
  const superseded = openReporter(async () => ({ processed: false }));
  superseded.reporter.start();
  await superseded.reporter.end();
  expect(superseded.onSuperseded).toHaveBeenCalledOnce();

  const failing = openReporter(async () => {
    throw new Error('503');
  });
  failing.reporter.start();
  await failing.reporter.end();
  expect(failing.warnings).toMatchObject([{ facts: { asset_id: HEAD.asset_id, error: '503' } }]);
  expect(failing.onSuperseded).not.toHaveBeenCalled();
});
