// Tests that a cancelled encode ignores later reports of its attempt, and that a retry encodes retried.
import { describe, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { NOW, createVideo } from '../asset.fixture.ts';
import { CANCELLED, decideCancellation, isCancelled } from './cancellation.ts';
import { decideReport } from './decide.ts';
import { decideRetry } from './decide-commands.ts';
import type { StreamReport } from './stream-report.ts';

const encoding = createVideo({
  provider: 'onprem',
  stream_status: 'processing',
  uploaded_at: NOW,
  encode_run: 1,
});
const cancelled: Asset = { ...encoding, ...decideCancellation(encoding)?.set };
const report = (event: StreamReport['event']): StreamReport => ({
  source: 'webhook',
  provider: 'onprem',
  event,
  attempt: 1,
});

describe('a cancelled encode', () => {
  test('fails as retryable, with the operator as the source', () => {
    expect(cancelled).toMatchObject({ stream_status: 'failed', failure: CANCELLED, reconcile_at: null });
    expect(decideCancellation(encoding)?.events).toEqual([
      { type: 'asset.failed', data: { attempt: 1, source: 'operator', code: 'cancelled' } },
    ]);
    expect(decideCancellation(encoding)?.jobs).toEqual([
      { name: 'cancel-encoder-job', payload: { assetId: encoding.id, attempt: encoding.attempt } },
    ]);
    expect(cancelled.failure).toEqual({
      code: 'cancelled',
      message: expect.stringMatching(/^An operator cancelled the encoding/),
      retryable: true,
    });
  });
  test('is told from an encode that runs, failed by itself, or was retried', () => {
    const failure = { code: 'encode_failed', message: 'no', retryable: true };
    const others = [{ ...cancelled, failure }, { ...cancelled, failure: null }, encoding];
    expect(isCancelled(cancelled)).toBe(true);
    expect(others.map(isCancelled)).toEqual([false, false, false]);
    expect(isCancelled({ ...cancelled, stream_status: 'processing' })).toBe(false);
  });
  test.each(['started', 'succeeded'] as const)('is not changed by a late "%s"', (event) =>
    expect(decideReport(cancelled, report(event), NOW)).toEqual({ processed: false, reason: 'late' }),
  );
  test('is encoded again after a retry', () => {
    const retried: Asset = { ...cancelled, ...decideRetry(cancelled, {}, NOW)?.set };
    expect(retried).toMatchObject({ stream_status: 'processing', attempt: 2, failure: null });
    expect(decideReport(retried, { ...report('succeeded'), attempt: 2 }, NOW).processed).toBe(true);
  });
});

describe('an asset cannot be cancelled when', () => {
  test.each<[string, Partial<Asset>]>([
    ['the upload is open', { stream_status: 'pending_upload' }],
    ['it is ready', { stream_status: 'ready' }],
    ['its files are stored and only the report is missing', { encoded_run: 1 }],
    ['a hosted provider encodes it', { provider: 'cdnhost' }],
    ['it is an image', { kind: 'image', provider: null }],
    ['an external encoder has the bytes', { uploaded_at: null }],
  ])('%s', (_, more) => expect(decideCancellation({ ...encoding, ...more })).toBeUndefined());
});
