// Tests what checks, completions and retries record: the next check and the job that follows (contract B6).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import type { JobRequest } from '../../jobs.ts';
import { createVideo, LATER, NOW, VIDEOS } from '../asset.fixture.ts';
import {
  decideCheck,
  decideCompletion,
  decideFacts,
  decideRefusal,
  decideRetry,
  type FactsRecord,
} from './decide-commands.ts';
import { addMs, firstReconcileAt, firstUploadCheckAt, isFactsCheck } from './reconcile-schedule.ts';

const MINUTE = 60_000;
const job: JobRequest = { name: 'encode-asset', payload: { assetId: VIDEOS.pending.id, attempt: 1 } };
const nextCheck = (minutes: number) => addMs(NOW, minutes * MINUTE);

describe('a check by the reconcile job', () => {
  const checked = createVideo({ stream_status: 'processing', encoded_run: 2, reconcile_at: NOW });

  test('records what it found and the time of the next one', () => {
    expect(decideCheck(checked, { data: { state: 'waiting' }, checkAt: nextCheck(5) })).toEqual({
      set: { reconcile_at: nextCheck(5) },
      events: [
        {
          type: 'asset.checked',
          data: {
            attempt: 1,
            source: 'reconcile',
            state: 'waiting',
            next_check_at: nextCheck(5).toISOString(),
          },
        },
      ],
      jobs: [],
    });
  });
  test('may be the last one', () => {
    const last = decideCheck(checked, { data: {}, checkAt: null });
    expect(last.set).toEqual({ reconcile_at: null });
    expect(last.events[0]?.data).toEqual({ attempt: 1, source: 'reconcile' });
  });
  test('starts the encoding again when the report of a finished run was lost', () => {
    expect(decideCheck(checked, { data: {}, checkAt: NOW, restartsEncoding: true, job })).toMatchObject({
      set: { encoded_run: 0 },
      jobs: [job],
    });
  });
});

describe('the job that processes the bytes', () => {
  test('follows a completion, with the time of the first check and the caller', () => {
    const change = decideCompletion(VIDEOS.pending, { facts: {}, job, actorData: { user: 'ann' } }, NOW);
    expect(change).toMatchObject({
      jobs: [job],
      events: [{ data: { user: 'ann', next_check_at: nextCheck(2).toISOString() } }],
    });
    expect(decideCompletion(VIDEOS.pending, { facts: {} }, NOW)?.jobs).toEqual([]);
  });
  test('follows a retry, with the time of the first check and the caller', () => {
    const change = decideRetry(VIDEOS.failed, { job, actorData: { user: 'ann' } }, NOW);
    expect(change).toMatchObject({
      jobs: [job],
      events: [{ data: { user: 'ann', next_check_at: nextCheck(2).toISOString() } }],
    });
    expect(decideRetry(VIDEOS.failed, {}, NOW)?.jobs).toEqual([]);
  });
});

test('a job removes the bytes of a refused asset', () => {
  const failure = { code: 'playlist', message: 'no', retryable: true };
  expect(decideRefusal(VIDEOS.pending, failure).jobs).toEqual([
    { name: 'purge-asset', payload: { assetId: VIDEOS.pending.id } },
  ]);
});

describe('the first check', () => {
  const facts: Partial<Asset> = { size_bytes: 1, width: 1, height: 1, duration_ms: 1, ready_at: NOW };
  const hosted: Partial<Asset> = { provider: 'cdnhost', provider_video_id: 'guid-1', ...facts };
  const incomplete = [{ code: 'encoding_incomplete', message: 'some renditions may be missing' }];
  test.each<[string, Partial<Asset>, Date | null]>([
    ['of a processing asset is after two minutes', { stream_status: 'processing' }, nextCheck(2)],
    ['of an upload to our store is never', { stream_status: 'pending_upload' }, null],
    ['of a failed hosted video is after half an hour', { ...hosted, stream_status: 'failed' }, nextCheck(30)],
    ['of a refused hosted video is never', { ...hosted, stream_status: 'failed', refused: true }, null],
    ['of a failed video of our own is never', { stream_status: 'failed' }, null],
    ['of a ready video of our own is never', { stream_status: 'ready' }, null],
    [
      'of a ready hosted video without its duration is at once',
      { ...hosted, stream_status: 'ready', duration_ms: null },
      NOW,
    ],
    [
      'of a ready hosted video whose last rendition is not reported is at once',
      { ...hosted, stream_status: 'ready', ready_at: null },
      NOW,
    ],
    ['of a later attempt is at once', { ...hosted, stream_status: 'ready', attempt: 2 }, NOW],
    [
      'of a video that an inspection reported as ready is never',
      { ...hosted, stream_status: 'ready', duration_ms: null, settled: true },
      null,
    ],
    ['of a ready hosted video with all facts is never', { ...hosted, stream_status: 'ready' }, null],
    [
      'of a ready video with other warnings is never',
      { ...hosted, stream_status: 'ready', warnings: [{ code: 'other', message: 'x' }] },
      null,
    ],
    [
      'of a ready hosted video that may lack renditions is at once',
      { ...hosted, stream_status: 'ready', warnings: incomplete },
      NOW,
    ],
  ])('%s', (_, more, at) => expect(firstReconcileAt(createVideo(more), NOW)).toEqual(at));

  test('of an upload to a hosted provider is after a quarter of an hour', () => {
    expect(firstUploadCheckAt(NOW)).toEqual(nextCheck(15));
  });
});

describe('facts of a ready video', () => {
  const ready = createVideo({
    provider: 'cdnhost',
    provider_video_id: 'v',
    stream_status: 'ready',
    ready_at: NOW,
    reconcile_at: NOW,
  });
  const event = 'succeeded';
  const renditions = [{ height: 240, state: 'ready' }] as const;
  const media = { sizeBytes: 9, width: 320, height: 240, durationMs: 2000 };

  test('complete the asset and change neither its state nor what later webhooks may do', () => {
    expect(isFactsCheck(ready)).toBe(true);
    const change = decideFacts(ready, { report: { event, media, renditions }, checkAt: null }, LATER);
    expect(change).toEqual({
      set: { size_bytes: 9, width: 320, height: 240, duration_ms: 2000, renditions, reconcile_at: null },
      events: [
        {
          type: 'asset.updated',
          data: {
            attempt: 1,
            source: 'inspect',
            fields: ['size_bytes', 'width', 'height', 'duration_ms', 'renditions'],
          },
        },
      ],
      jobs: [],
    });
    const again = decideFacts(
      { ...ready, ...change.set },
      { report: { event, media, renditions }, checkAt: null },
      LATER,
    );
    expect(again).toEqual({ set: {}, events: [], jobs: [] });
  });

  test('that are unknown keep the stored ones, without an event', () => {
    expect(decideFacts({ ...ready, width: 7 }, { report: { event }, checkAt: nextCheck(5) }, LATER)).toEqual({
      set: { reconcile_at: nextCheck(5) },
      events: [],
      jobs: [],
    });
  });

  test.each<[string, FactsRecord['report'], Date | null]>([
    ['all renditions', { event, complete: true }, LATER],
    ['no last rendition yet', { event, complete: false }, null],
    ['a running encoding', { event: 'started' }, null],
    ['nothing', undefined, null],
  ])('with %s', (_, report, at) => {
    const early = { ...ready, ready_at: null, reconcile_at: null };
    const { set, events } = decideFacts(early, { ...(report && { report }), checkAt: null }, LATER);
    expect({ ...early, ...set }.ready_at).toEqual(at);
    expect(events.map(({ data }) => data['fields'])).toEqual(at ? [['ready_at']] : []);
  });
});
