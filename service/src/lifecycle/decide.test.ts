// What the sender of a report is told, and what the asset is afterwards (contract B6).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { afterReport, afterReports, NOW, createVideo } from './asset.fixture.ts';
import { decideReport } from './decide.ts';
import { decideCompletion, decideRefusal, decideRetry } from './decide-commands.ts';
import type { ReportedPlayback } from '../assets/playback-manifest.ts';
import type { StreamReport } from './stream-report.ts';

const LATER = new Date(NOW.getTime() + 60_000);
const say = (event: StreamReport['event'], more: Partial<StreamReport> = {}): StreamReport => ({
  source: 'webhook',
  provider: 'onprem',
  event,
  ...more,
});
const started = say('started');
const failed = say('failed');
const succeeded = say('succeeded');
const urls = (hls: string, thumbnail?: string): ReportedPlayback => ({
  kind: 'urls',
  urls: { hls, ...(thumbnail && { thumbnail }) },
});
const because = (code: string): Partial<StreamReport> => ({
  failure: { code, message: code, retryable: true },
});

const pending = createVideo();
const processing = afterReport(pending, started);
const ready = afterReport(pending, say('succeeded', { playback: urls('https://a.example/1.m3u8') }));
const failedVideo = afterReport(pending, failed);
const refusedVideo: Asset = {
  ...pending,
  ...decideRefusal(pending, { code: 'playlist', message: 'no', retryable: false }).set,
};

const verdict = (asset: Asset, report: StreamReport) => {
  const { processed, reason } = decideReport(asset, report, LATER);
  return `${processed} ${reason}`;
};
const types = (asset: Asset, report: StreamReport) =>
  (decideReport(asset, report, LATER).change?.events ?? []).map(({ type }) => type);

describe('the sender is told', () => {
  const verdicts = [
    ['a first processing', pending, started, 'true applied'],
    ['processing again', processing, started, 'true repeat'],
    ['processing with more progress', processing, say('started', { progress: 10 }), 'true applied'],
    ['processing after failed', failedVideo, started, 'false late'],
    ['processing after ready', ready, started, 'false late'],
    ['a failure while waiting', pending, failed, 'true applied'],
    ['a failure while processing', processing, failed, 'true applied'],
    ['the same failure again', failedVideo, failed, 'true repeat'],
    ['a failure with other words', failedVideo, say('failed', because('too_long')), 'true applied'],
    ['a failure after ready', ready, failed, 'false late'],
    ['ready while waiting', pending, succeeded, 'true applied'],
    ['ready while processing', processing, succeeded, 'true applied'],
    ['ready after failed', failedVideo, succeeded, 'true applied'],
    ['ready again', ready, succeeded, 'true repeat'],
    [
      'ready again with another URL',
      ready,
      say('succeeded', { playback: urls('https://a.example/2.m3u8') }),
      'true applied',
    ],
    ['the attempt by name', processing, say('succeeded', { attempt: 1 }), 'true applied'],
    ['an older attempt', { ...ready, attempt: 2 }, say('succeeded', { attempt: 1 }), 'false older_attempt'],
    ['a newer attempt', ready, say('started', { attempt: 2 }), 'true applied'],
    ['a failure of a newer attempt', ready, say('failed', { attempt: 3 }), 'true applied'],
    ['a deleted asset', { ...processing, deleted_at: NOW }, succeeded, 'false deleted_asset'],
    [
      'a deleted asset of another provider',
      createVideo({ provider: 'cdnhost', deleted_at: NOW }),
      succeeded,
      'false deleted_asset',
    ],
    ["another provider's asset", createVideo({ provider: 'edgehost' }), succeeded, 'false wrong_provider'],
    ['an image', createVideo({ kind: 'image', provider: null }), succeeded, 'false wrong_provider'],
    ['a refused asset: ready', refusedVideo, succeeded, 'false refused'],
    ['a refused asset: failed', refusedVideo, failed, 'false refused'],
    [
      'a refused asset: an older attempt',
      { ...refusedVideo, attempt: 2 },
      say('succeeded', { attempt: 1 }),
      'false older_attempt',
    ],
    ['a refused asset: a newer attempt', refusedVideo, say('succeeded', { attempt: 2 }), 'true applied'],
  ] as const;
  for (const [name, asset, report, expected] of verdicts) {
    test(`${name}: ${expected}`, () => {
      expect(verdict(asset, report)).toBe(expected);
    });
  }

  test('that a report which does not count changes nothing', () => {
    const uncounted: Asset[] = [
      { ...processing, deleted_at: NOW },
      createVideo({ provider: 'cdnhost' }),
      refusedVideo,
      { ...ready, attempt: 9 },
    ];
    for (const asset of uncounted) {
      for (const event of ['started', 'failed', 'succeeded'] as const) {
        expect(
          decideReport(
            asset,
            say(event, { attempt: 1, progress: 50, playback: urls('https://b.example/') }),
            NOW,
          ).change,
        ).toBeUndefined();
      }
    }
  });
});

describe('within one attempt', () => {
  test('ready ends at 100 percent, without a failure, playable and complete', () => {
    expect(
      afterReport(failedVideo, say('succeeded', { playback: urls('https://a.example/1.m3u8') })),
    ).toMatchObject({
      stream_status: 'ready',
      progress: 100,
      failure: null,
      playable_at: NOW,
      completed_at: NOW,
      playback: { kind: 'urls', attempt: 1, hls: 'https://a.example/1.m3u8', dash: null, thumbnail: null },
    });
  });

  test('a failure after ready leaves one warning and what plays, however often it comes', () => {
    const after = afterReports(ready, [failed, failed, say('failed', because('other'))]);
    expect(after).toEqual({ ...ready, warnings: [expect.objectContaining({ code: 'encoding_incomplete' })] });
    expect(decideReport(after, failed, LATER).change).toBeUndefined();
  });

  test('a late processing after ready leaves no warning', () => {
    expect(afterReport(ready, started)).toEqual(ready);
  });

  test('the latest failure text stays; one without words keeps what is known', () => {
    expect(
      afterReports(pending, [say('failed', because('first')), say('failed', because('second'))]).failure
        ?.code,
    ).toBe('second');
    expect(afterReports(pending, [say('failed', because('first')), failed]).failure?.code).toBe('first');
    expect(failedVideo.failure).toEqual({
      code: 'encode_failed',
      message: expect.any(String),
      retryable: true,
    });
  });

  test('each URL is the latest that was told, and one that nobody spoke of stays', () => {
    const after = afterReports(ready, [
      say('succeeded', { playback: urls('https://a.example/2.m3u8', 'https://a.example/t.jpg') }),
      say('succeeded', { playback: urls('https://a.example/3.m3u8') }),
      succeeded,
    ]);
    expect(after.playback).toMatchObject({
      hls: 'https://a.example/3.m3u8',
      thumbnail: 'https://a.example/t.jpg',
    });
  });

  test('ready without URLs is ready, and playable only once there are some', () => {
    const bare = afterReport(pending, succeeded);
    expect(bare).toMatchObject({
      stream_status: 'ready',
      playback: null,
      playable_at: null,
      completed_at: NOW,
    });
    expect(
      afterReport(bare, say('succeeded', { playback: urls('https://a.example/1.m3u8') }), LATER),
    ).toMatchObject({ playable_at: LATER, completed_at: NOW });
  });

  test('a first rendition is playable, the last one completes it, and neither time moves again', () => {
    const first = afterReport(
      pending,
      say('succeeded', { complete: false, playback: urls('https://a.example/1.m3u8') }),
    );
    expect(first).toMatchObject({ stream_status: 'ready', playable_at: NOW, completed_at: null });
    const last = afterReport(first, say('succeeded', { complete: true }), LATER);
    expect(last).toMatchObject({ playable_at: NOW, completed_at: LATER });
    expect(afterReport(last, succeeded, new Date())).toEqual(last);
  });

  test('a report learns nothing from URLs unless it is ready', () => {
    expect(
      afterReport(pending, say('failed', { playback: urls('https://a.example/1.m3u8') })).playback,
    ).toBeNull();
    expect(
      afterReport(pending, say('started', { playback: urls('https://a.example/1.m3u8') })).playback,
    ).toBeNull();
  });

  test('width, height and length come with ready, and stay where nothing is said', () => {
    const sized = afterReport(
      pending,
      say('succeeded', { picture: { width: 640, height: 360, durationMs: 2000 } }),
    );
    expect(afterReport(sized, say('succeeded', { picture: { width: 1280 } }))).toMatchObject({
      width: 1280,
      height: 360,
      duration_ms: 2000,
    });
  });
});

describe('progress', () => {
  const ago = (ms: number) => new Date(LATER.getTime() - ms);
  const at = (progress: number, updated_at = LATER) => ({ ...processing, progress, updated_at });
  const told = (asset: Asset, more: Partial<StreamReport>) => types(asset, say('started', more));

  test('is told for each step of five percent, and once a second', () => {
    expect(told(at(11), { progress: 12 })).toEqual([]);
    expect(told(at(14), { progress: 15 })).toEqual(['asset.progress']);
    expect(told(at(11, ago(999)), { progress: 12 })).toEqual([]);
    expect(told(at(11, ago(1000)), { progress: 12 })).toEqual(['asset.progress']);
  });

  test('is told where a rendition changes its state', () => {
    const rung = (state: 'encoding' | 'ready', bitrate = 1) => ({ height: 720, state, bitrate });
    const asset = { ...at(11), renditions: [rung('encoding')] };
    expect(told(asset, { renditions: [rung('ready')] })).toEqual(['asset.progress']);
    expect(told(asset, { renditions: [rung('encoding', 2)] })).toEqual([]);
  });

  test('of an earlier report is not told again', () => {
    expect(told(at(11, ago(5000)), { progress: 11 })).toEqual([]);
  });
});

describe('the timeline', () => {
  const told = [
    ['processing', pending, started, ['asset.processing']],
    ['progress', processing, say('started', { progress: 7 }), ['asset.progress']],
    ['a failure', processing, failed, ['asset.failed']],
    ['other words for a failure', failedVideo, say('failed', because('other')), ['asset.updated']],
    [
      'ready with URLs',
      processing,
      say('succeeded', { playback: urls('https://a.example/1.m3u8') }),
      ['asset.playable', 'asset.ready'],
    ],
    ['ready without URLs', processing, succeeded, ['asset.ready']],
    [
      'URLs after ready',
      afterReport(pending, succeeded),
      say('succeeded', { playback: urls('https://a.example/1.m3u8') }),
      ['asset.playable'],
    ],
    [
      'a new manifest',
      ready,
      say('succeeded', { playback: urls('https://a.example/2.m3u8') }),
      ['asset.updated'],
    ],
    ['a warning', ready, failed, ['asset.updated']],
    ['a new attempt that processes', processing, say('started', { attempt: 2 }), ['asset.processing']],
    ['a new attempt that is ready at once', ready, say('succeeded', { attempt: 2 }), ['asset.ready']],
    ['a new attempt that failed', failedVideo, say('failed', { attempt: 2 }), ['asset.failed']],
    ['a repeat', ready, succeeded, []],
  ] as const;
  for (const [name, asset, report, expected] of told) {
    test(`gets for ${name}: ${expected.join(', ') || 'nothing'}`, () => {
      expect(types(asset, report)).toEqual(expected);
    });
  }

  test("says which attempt, who reported it, and the failure's code", () => {
    const [event] =
      decideReport(pending, { ...say('failed', because('too_long')), attempt: 4, source: 'replay' }, NOW)
        .change?.events ?? [];
    expect(event?.data).toEqual({ attempt: 4, source: 'replay', code: 'too_long' });
  });
});

describe('the service itself', () => {
  test('sets processing once, when the bytes are found good', () => {
    expect(decideCompletion(pending, { facts: { width: 320 } }, NOW)).toMatchObject({
      set: { stream_status: 'processing', width: 320 },
      events: [{ type: 'asset.processing', data: { attempt: 1, source: 'caller' } }],
    });
    for (const asset of [processing, ready, failedVideo])
      expect(decideCompletion(asset, { facts: {} }, NOW)).toBeUndefined();
  });

  test('opens another attempt for a caller only where one failed', () => {
    expect(decideRetry(failedVideo, {}, NOW)).toMatchObject({
      set: { stream_status: 'processing', attempt: 2, failure: null },
      events: [{ type: 'asset.processing', data: { attempt: 2, source: 'caller' } }],
    });
    for (const asset of [pending, processing, ready]) expect(decideRetry(asset, {}, NOW)).toBeUndefined();
  });

  test('refuses for good within the attempt', () => {
    expect(
      decideRefusal(pending, { code: 'playlist', message: 'no', retryable: false }).events,
    ).toMatchObject([{ type: 'asset.failed', data: { attempt: 1, source: 'service', code: 'playlist' } }]);
    expect(refusedVideo).toMatchObject({
      stream_status: 'failed',
      refused: true,
      failure: { code: 'playlist', retryable: false },
    });
    expect(afterReport(refusedVideo, say('succeeded', { attempt: 2 }))).toMatchObject({
      stream_status: 'ready',
      refused: false,
      failure: null,
      attempt: 2,
    });
  });
});

test('a picture that is ready can be seen, in its size, with something to show until then', () => {
  const picture = createVideo({ kind: 'image', provider: null, stream_status: 'processing' });
  const report: StreamReport = {
    source: 'service',
    provider: null,
    event: 'succeeded',
    playback: { kind: 'image', animated: false, alpha: true },
    picture: { width: 64, height: 48, placeholder: 'hash' },
  };
  expect(afterReport(picture, report)).toMatchObject({
    stream_status: 'ready',
    width: 64,
    height: 48,
    placeholder: 'hash',
    playable_at: NOW,
    playback: { kind: 'image', attempt: 1, animated: false, alpha: true },
  });
  expect(types(picture, report)).toEqual(['asset.playable', 'asset.ready']);
  expect(afterReports(picture, [report, { ...report, picture: {} }])).toMatchObject({ placeholder: 'hash' });
});
