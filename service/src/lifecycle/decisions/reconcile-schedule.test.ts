// Tests the deadline of an encoding, the growing intervals of checks, and the checks after a failure.
import { expect, test } from 'vitest';
import {
  expectedMs,
  nextFactsCheckAt,
  nextReconcileAfterFailure,
  nextReconcileAt,
  untilExpiry,
} from './reconcile-schedule.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);
const minutesUntil = (time: Date | null) => time && (time.getTime() - NOW.getTime()) / 60_000;
const file = { duration_ms: null, size_bytes: null, announced_size_bytes: null };

test.for<
  readonly [what: string, known: Parameters<typeof expectedMs>[0], speed: number | undefined, minutes: number]
>([
  ['unknown size and duration', file, undefined, 5],
  ['ten minutes of film at an unknown speed', { ...file, duration_ms: 600_000 }, undefined, 45],
  ['ten minutes of film at twice real time', { ...file, duration_ms: 600_000 }, 2, 10],
  ['ten minutes of film after a very low measured speed', { ...file, duration_ms: 600_000 }, 0.001, 45],
  ['ten minutes of film after a measured speed of 0', { ...file, duration_ms: 600_000 }, 0, 45],
  ['six hundred megabytes', { ...file, size_bytes: 600_000_000 }, undefined, 15],
  ['six hundred megabytes announced', { ...file, announced_size_bytes: 600_000_000 }, 10, 15],
])('%s', ([, known, speed, minutes]) => {
  expect(expectedMs(known, speed) / 60_000).toBe(minutes);
});

test('the interval grows with the time waited, from five minutes to six hours', () => {
  expect([1, 10, 60, 24 * 60].map((minutes) => minutesUntil(nextReconcileAt(ago(minutes), NOW)))).toEqual([
    5, 5, 30, 360,
  ]);
});

test('a failed asset is checked for a day', () => {
  expect(minutesUntil(nextReconcileAfterFailure(ago(1), NOW))).toBe(30);
  expect(minutesUntil(nextReconcileAfterFailure(ago(23 * 60), NOW))).toBe(385);
  expect(nextReconcileAfterFailure(ago(24 * 60), NOW)).toBeNull();
});

test('the facts of a ready video are asked for during a day', () => {
  expect(minutesUntil(nextFactsCheckAt(ago(0), NOW))).toBe(5);
  expect(minutesUntil(nextFactsCheckAt(ago(20 * 60), NOW))).toBe(360);
  expect(nextFactsCheckAt(ago(24 * 60), NOW)).toBeNull();
});

test('an open upload is checked when it expires, at the latest', () => {
  const checkAt = (stream_status: 'pending_upload' | 'processing', expiry: Date | null) =>
    minutesUntil(untilExpiry({ stream_status, upload_expires_at: expiry }, ago(-60), NOW));
  expect([ago(-30), ago(-90), ago(1), null].map((expiry) => checkAt('pending_upload', expiry))).toEqual([
    30, 60, 60, 60,
  ]);
  expect(checkAt('processing', ago(-30))).toBe(60);
});
