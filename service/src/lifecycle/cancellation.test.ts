// A cancelled encode stays cancelled for its attempt, whatever its encoder still reports; a retry opens the next.
import { describe, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { NOW, createVideo } from './asset.fixture.ts';
import { CANCELLED, cancelled } from './cancellation.ts';
import { decideReport } from './decide.ts';
import { decideRetry } from './decide-commands.ts';
import type { StreamReport } from './stream-report.ts';

const encoding = createVideo({
  provider: 'onprem',
  stream_status: 'processing',
  uploaded_at: NOW,
  encode_try: 1,
});
const stopped: Asset = { ...encoding, ...cancelled(encoding)?.set };
const report = (event: StreamReport['event']): StreamReport => ({
  source: 'webhook',
  provider: 'onprem',
  event,
  attempt: 1,
});

describe('a cancelled encode', () => {
  test('is a failure that can be retried, and the operator did it', () => {
    expect(stopped).toMatchObject({ stream_status: 'failed', failure: CANCELLED, reconcile_at: null });
    expect(cancelled(encoding)?.events).toEqual([
      { type: 'asset.failed', data: { attempt: 1, source: 'operator', code: 'cancelled' } },
    ]);
  });
  test.each(['started', 'succeeded'] as const)('is not changed by a late "%s"', (event) =>
    expect(decideReport(stopped, report(event), NOW)).toEqual({ processed: false, reason: 'late' }),
  );
  test('is encoded again by a retry', () => {
    const again: Asset = { ...stopped, ...decideRetry(stopped, {}, NOW)?.set };
    expect(again).toMatchObject({ stream_status: 'processing', attempt: 2, failure: null });
    expect(decideReport(again, { ...report('succeeded'), attempt: 2 }, NOW).processed).toBe(true);
  });
});

describe('there is nothing to cancel where', () => {
  test.each<[string, Partial<Asset>]>([
    ['the upload is open', { stream_status: 'pending_upload' }],
    ['it is ready', { stream_status: 'ready' }],
    ['its files are stored and only the report is on its way', { encoded_try: 1 }],
    ['a hosted provider has the video', { provider: 'cdnhost' }],
    ['it is a picture', { kind: 'image', provider: null }],
    ['an encoder elsewhere has the bytes', { uploaded_at: null }],
  ])('%s', (_, more) => expect(cancelled({ ...encoding, ...more })).toBeUndefined());
});
