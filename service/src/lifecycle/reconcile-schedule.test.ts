// How long the sweep waits: as long as an encoding may take, then longer and longer, and after a failure for a day.
import { expect, test } from 'vitest';
import { expectedMs, nextReconcileAt, nextReconcileAfterFailure } from './reconcile-schedule.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);
const minutesUntil = (moment: Date | null) => moment && (moment.getTime() - NOW.getTime()) / 60_000;
const file = { duration_ms: null, size_bytes: null, announced_size_bytes: null };

test.for<
  readonly [what: string, known: Parameters<typeof expectedMs>[0], speed: number | undefined, minutes: number]
>([
  ['nothing known', file, undefined, 5],
  ['a film of ten minutes, speed unknown', { ...file, duration_ms: 600_000 }, undefined, 45],
  [
    'a film of ten minutes at a provider that makes two seconds of film in one',
    { ...file, duration_ms: 600_000 },
    2,
    10,
  ],
  [
    'a film of ten minutes after nothing but short clips, each of which took its while',
    { ...file, duration_ms: 600_000 },
    0.001,
    45,
  ],
  ['a film of ten minutes after a standstill', { ...file, duration_ms: 600_000 }, 0, 45],
  ['six hundred megabytes', { ...file, size_bytes: 600_000_000 }, undefined, 15],
  ['six hundred megabytes announced', { ...file, announced_size_bytes: 600_000_000 }, 10, 15],
])('%s', ([, known, speed, minutes]) => {
  expect(expectedMs(known, speed) / 60_000).toBe(minutes);
});

test('the longer something takes already, the longer the pause: five minutes to six hours', () => {
  expect([1, 10, 60, 24 * 60].map((minutes) => minutesUntil(nextReconcileAt(ago(minutes), NOW)))).toEqual([
    5, 5, 30, 360,
  ]);
});

test('a failure is asked about for a day', () => {
  expect(minutesUntil(nextReconcileAfterFailure(ago(1), NOW))).toBe(30);
  expect(minutesUntil(nextReconcileAfterFailure(ago(23 * 60), NOW))).toBe(385);
  expect(nextReconcileAfterFailure(ago(24 * 60), NOW)).toBeNull();
});
