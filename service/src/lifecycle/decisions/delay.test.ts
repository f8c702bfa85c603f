// Tests that a late attempt is announced once, and only while it goes on.
import { expect, test } from 'vitest';
import { createVideo, LATER, NOW, VIDEOS } from '../asset.fixture.ts';
import { decideCheck } from './decide-commands.ts';
import { decideDelay } from './delay.ts';

const processing = createVideo({ stream_status: 'processing', attempt: 2 });

test('a late attempt is announced once, with its reason in words', () => {
  const late = decideDelay(processing, { reason: 'waiting_for_slot', expectedLatestAt: NOW });
  expect(late).toEqual({
    set: { delayed_attempt: 2 },
    events: [
      {
        type: 'asset.delayed',
        data: {
          attempt: 2,
          source: 'reconcile',
          reason: 'waiting_for_slot',
          message: 'The encode still waits for a free slot, because others run or wait before it.',
          expected_latest_at: NOW.toISOString(),
        },
      },
    ],
  });
  expect(decideDelay({ ...processing, ...late?.set }, { reason: 'encoding_slow' })).toBeUndefined();
  expect(decideDelay({ ...processing, ...late?.set, attempt: 3 }, { reason: 'encoding_slow' })).toMatchObject(
    { set: { delayed_attempt: 3 } },
  );
});

test.each(['pending', 'ready', 'failed'] as const)('nothing is late about a video that is %s', (status) => {
  expect(decideDelay(VIDEOS[status], { reason: 'encoding_slow' })).toBeUndefined();
});

test('a check announces the delay in its own change', () => {
  const check = {
    data: { reason: 'still_processing' },
    checkAt: LATER,
    delay: { reason: 'provider_slow' },
  } as const;
  const change = decideCheck(processing, check);
  expect(change.set).toEqual({ reconcile_at: LATER, delayed_attempt: 2 });
  expect(change.events.map(({ type }) => type)).toEqual(['asset.delayed', 'asset.checked']);
  const again = decideCheck({ ...processing, ...change.set }, check);
  expect(again.events.map(({ type }) => type)).toEqual(['asset.checked']);
});
