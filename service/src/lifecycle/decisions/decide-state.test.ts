// Tests the state of an asset after reports of one attempt (contract B6).
import { describe, expect, test } from 'vitest';
import {
  afterReport,
  afterReports,
  createReport,
  createVideo,
  LATER,
  NOW,
  VIDEOS,
  withFailure,
  withUrls,
} from '../asset.fixture.ts';
import { decideReport } from './decide.ts';
import type { StreamReport } from './stream-report.ts';

const { pending, ready, failed: failedVideo } = VIDEOS;
const started = createReport('started');
const failed = createReport('failed');
const succeeded = createReport('succeeded');

describe('the state of an asset', () => {
  test('ready sets progress 100, clears the failure and sets both times', () => {
    expect(
      afterReport(failedVideo, createReport('succeeded', withUrls('https://a.example/1.m3u8'))),
    ).toMatchObject({
      stream_status: 'ready',
      progress: 100,
      failure: null,
      playable_at: NOW,
      ready_at: NOW,
      playback: { kind: 'urls', attempt: 1, hls: 'https://a.example/1.m3u8', dash: null, thumbnail: null },
    });
  });

  test('failures after ready add one warning and keep the playback', () => {
    const after = afterReports(ready, [failed, failed, createReport('failed', withFailure('other'))]);
    expect(after).toEqual({ ...ready, warnings: [expect.objectContaining({ code: 'encoding_incomplete' })] });
    expect(decideReport(after, failed, LATER).change).toBeUndefined();
  });

  test('processing after ready adds no warning', () => {
    expect(afterReport(ready, started)).toEqual(ready);
  });

  test('the latest failure wins; a failure without details keeps the earlier one', () => {
    expect(
      afterReports(pending, [
        createReport('failed', withFailure('first')),
        createReport('failed', withFailure('second')),
      ]).failure?.code,
    ).toBe('second');
    expect(afterReports(pending, [createReport('failed', withFailure('first')), failed]).failure?.code).toBe(
      'first',
    );
    expect(failedVideo.failure).toEqual({
      code: 'encode_failed',
      message: expect.any(String),
      retryable: true,
    });
  });

  test('each URL is the latest reported one; an omitted URL stays', () => {
    const after = afterReports(ready, [
      createReport('succeeded', withUrls('https://a.example/2.m3u8', 'https://a.example/t.jpg')),
      createReport('succeeded', withUrls('https://a.example/3.m3u8')),
      succeeded,
    ]);
    expect(after.playback).toMatchObject({
      hls: 'https://a.example/3.m3u8',
      thumbnail: 'https://a.example/t.jpg',
    });
  });

  test('ready without URLs is playable once URLs are reported', () => {
    const withoutUrls = afterReport(pending, succeeded);
    expect(withoutUrls).toMatchObject({
      stream_status: 'ready',
      playback: null,
      playable_at: null,
      ready_at: NOW,
    });
    expect(
      afterReport(withoutUrls, createReport('succeeded', withUrls('https://a.example/1.m3u8')), LATER),
    ).toMatchObject({ playable_at: LATER, ready_at: NOW });
  });

  test('the first rendition sets playable_at, the last one ready_at, and neither changes again', () => {
    const first = afterReport(
      pending,
      createReport('succeeded', { complete: false, ...withUrls('https://a.example/1.m3u8') }),
    );
    expect(first).toMatchObject({ stream_status: 'ready', playable_at: NOW, ready_at: null });
    const last = afterReport(first, createReport('succeeded', { complete: true }), LATER);
    expect(last).toMatchObject({ playable_at: NOW, ready_at: LATER });
    expect(afterReport(last, succeeded, new Date())).toEqual(last);
  });

  test('URLs of processing and failed reports are ignored', () => {
    expect(
      afterReport(pending, createReport('failed', withUrls('https://a.example/1.m3u8'))).playback,
    ).toBeNull();
    expect(
      afterReport(pending, createReport('started', withUrls('https://a.example/1.m3u8'))).playback,
    ).toBeNull();
  });

  test('ready sets width, height and duration; omitted ones stay', () => {
    const sized = afterReport(
      pending,
      createReport('succeeded', { media: { width: 640, height: 360, durationMs: 2000 } }),
    );
    expect(afterReport(sized, createReport('succeeded', { media: { width: 1280 } }))).toMatchObject({
      width: 1280,
      height: 360,
      duration_ms: 2000,
    });
  });
});

describe('the description of the original', () => {
  const video = { codec: 'h264', fps: 25, hdr: false, bit_depth: 8 };
  const levels = { loudness_lufs: -23, true_peak_dbtp: -1.5, gain_db: 7 };
  const track = { codec: 'aac', channels: 2, language: 'de', ...levels };
  const audio = [{ ...track, name: 'German', default: true }];
  const described = createReport('succeeded', { attempt: 1, media: { container: 'mov', video, audio } });
  const expected = { container: 'mov', video, audio: [track], photo: null };

  test('comes with ready, in any order of reports', () => {
    const started = createReport('started', { attempt: 1, progress: 5 });
    for (const reports of [[described], [started, described], [described, started, described]])
      expect(afterReports(pending, reports).media).toEqual(expected);
  });
  test('stays until a later attempt replaces it', () => {
    const second = createReport('started', { attempt: 2 });
    const failed = createReport('failed', { attempt: 2 });
    const silent = createReport('succeeded', { attempt: 2, media: { container: 'mov', video } });
    expect(afterReports(pending, [described, second]).media).toEqual(expected);
    expect(afterReports(pending, [described, second, failed]).media).toEqual(expected);
    expect(afterReports(pending, [silent, described]).media).toEqual({ ...expected, audio: [] });
    expect(afterReports(pending, [described, silent]).media).toEqual({ ...expected, audio: [] });
  });
  test('is null for videos of other encoders', () => {
    expect(afterReport(pending, createReport('succeeded', { media: { width: 640 } })).media).toBeNull();
  });
});

test('a processed image is ready, with its size and placeholder', () => {
  const image = createVideo({ kind: 'image', provider: null, stream_status: 'processing' });
  const report: StreamReport = {
    source: 'service',
    provider: null,
    event: 'succeeded',
    playback: { kind: 'image', animated: false, alpha: true },
    media: { width: 64, height: 48, placeholder: 'hash' },
  };
  expect(afterReport(image, report)).toMatchObject({
    stream_status: 'ready',
    width: 64,
    height: 48,
    placeholder: 'hash',
    media: null,
    playable_at: NOW,
    playback: { kind: 'image', attempt: 1, animated: false, alpha: true },
  });
  expect(afterReports(image, [report, { ...report, media: {} }])).toMatchObject({ placeholder: 'hash' });
});
