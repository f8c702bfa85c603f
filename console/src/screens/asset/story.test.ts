// What the timeline says about the next check of an asset.
import type { Asset, TimelineEntry } from '@mediary/client';
import { expect, test } from 'vitest';
import { nextCheckOf, tellNext } from './story.ts';

const NOW = Date.parse('2026-01-01T10:00:00.000Z');
const inMinutes = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();
const entry = (type: TimelineEntry['type'], checkInMinutes?: number): TimelineEntry => ({
  id: '01900000-0000-7000-8000-000000000001',
  at: inMinutes(-10),
  type,
  source: 'webhook',
  attempt: 1,
  latency_ms: 0,
  sentence: '',
  details: checkInMinutes === undefined ? {} : { next_check_at: inMinutes(checkInMinutes) },
});

test.for<[string, readonly TimelineEntry[], string | undefined]>([
  ['to come', [entry('asset.processing', 2), entry('asset.checked', 5)], inMinutes(5)],
  ['in the past, because a later check left no entry', [entry('asset.processing', -1)], undefined],
  ['of the processing that has failed', [entry('asset.processing', 2), entry('asset.failed')], undefined],
  ['of no work', [entry('asset.created')], undefined],
])('a check %s', ([, entries, at]) => {
  expect(nextCheckOf(entries, NOW)).toBe(at);
});

test('a failed asset tells whether its provider is asked again', () => {
  const failed = { stream_status: 'failed', deleted_at: null, failure: { retryable: true } } as Asset;
  const next = (entries: readonly TimelineEntry[]) => tellNext(failed, { entries, now: NOW });
  expect(next([entry('asset.failed', 30)])).toMatch(
    /^The provider may still report it as ready\. “Try again”/,
  );
  expect(next([entry('asset.failed', -30), entry('asset.checked')])).toMatch(/^Nothing happens by itself\./);
});
