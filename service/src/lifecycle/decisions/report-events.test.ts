// Tests the events that reports cause (contract B8).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import {
  afterReport,
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

const { pending, processing, ready, failed: failedVideo } = VIDEOS;
const started = createReport('started');
const failed = createReport('failed');
const succeeded = createReport('succeeded');

const types = (asset: Asset, report: StreamReport) =>
  (decideReport(asset, report, LATER).change?.events ?? []).map(({ type }) => type);

test('the event of a ready video describes its audio tracks', () => {
  const track = { language: 'de', name: 'German', codec: 'aac', channels: 2, default: true };
  const audio = [{ ...track, loudness_lufs: -23, true_peak_dbtp: -1.5, gain_db: null }];
  const report = createReport('succeeded', { media: { audio } });
  const { events = [] } = decideReport(processing, report, LATER).change ?? {};
  expect(events).toMatchObject([{ type: 'asset.ready', data: { audio } }]);
  expect(decideReport(processing, succeeded, LATER).change?.events[0]?.data).not.toHaveProperty('audio');
});

describe('the events of a report', () => {
  const cases = [
    ['processing', pending, started, ['asset.processing']],
    ['progress', processing, createReport('started', { progress: 7 }), ['asset.progress']],
    ['a failure', processing, failed, ['asset.failed']],
    ['another failure code', failedVideo, createReport('failed', withFailure('other')), ['asset.updated']],
    [
      'ready with URLs',
      processing,
      createReport('succeeded', withUrls('https://a.example/1.m3u8')),
      ['asset.playable', 'asset.ready'],
    ],
    ['ready without URLs', processing, succeeded, ['asset.ready']],
    [
      'URLs after ready',
      afterReport(pending, succeeded),
      createReport('succeeded', withUrls('https://a.example/1.m3u8')),
      ['asset.playable'],
    ],
    [
      'a new manifest',
      ready,
      createReport('succeeded', withUrls('https://a.example/2.m3u8')),
      ['asset.updated'],
    ],
    ['a warning', ready, failed, ['asset.updated']],
    [
      'a new attempt that is processing',
      processing,
      createReport('started', { attempt: 2 }),
      ['asset.processing'],
    ],
    ['a new attempt that is ready', ready, createReport('succeeded', { attempt: 2 }), ['asset.ready']],
    ['a new attempt that failed', failedVideo, createReport('failed', { attempt: 2 }), ['asset.failed']],
    ['a repeat', ready, succeeded, []],
  ] as const;
  for (const [name, asset, report, expected] of cases) {
    test(`${name}: ${expected.join(', ') || 'none'}`, () => {
      expect(types(asset, report)).toEqual(expected);
    });
  }

  test('carry attempt, source and failure code', () => {
    const [event] =
      decideReport(
        pending,
        { ...createReport('failed', withFailure('too_long')), attempt: 4, source: 'replay' },
        NOW,
      ).change?.events ?? [];
    expect(event?.data).toEqual({ attempt: 4, source: 'replay', code: 'too_long' });
  });
});

describe('a progress event', () => {
  const ago = (ms: number) => new Date(LATER.getTime() - ms);
  const at = (progress: number, updated_at = LATER) => ({ ...processing, progress, updated_at });
  const eventsAfter = (asset: Asset, more: Partial<StreamReport>) =>
    types(asset, createReport('started', more));

  test('is recorded for each step of five percent, and otherwise once a second', () => {
    expect(eventsAfter(at(11), { progress: 12 })).toEqual([]);
    expect(eventsAfter(at(14), { progress: 15 })).toEqual(['asset.progress']);
    expect(eventsAfter(at(11, ago(999)), { progress: 12 })).toEqual([]);
    expect(eventsAfter(at(11, ago(1000)), { progress: 12 })).toEqual(['asset.progress']);
  });

  test('is recorded when a rendition changes its state', () => {
    const rendition = (state: 'encoding' | 'ready', bitrate = 1) => ({ height: 720, state, bitrate });
    const asset = { ...at(11), renditions: [rendition('encoding')] };
    expect(eventsAfter(asset, { renditions: [rendition('ready')] })).toEqual(['asset.progress']);
    expect(eventsAfter(asset, { renditions: [rendition('encoding', 2)] })).toEqual([]);
  });

  test('is not recorded when progress does not change', () => {
    expect(eventsAfter(at(11, ago(5000)), { progress: 11 })).toEqual([]);
  });
});

test('a processed image is playable and ready', () => {
  const image = createVideo({ kind: 'image', provider: null, stream_status: 'processing' });
  const report = createReport('succeeded', {
    source: 'service',
    provider: null,
    playback: { kind: 'image', animated: false, alpha: true },
  });
  expect(types(image, report)).toEqual(['asset.playable', 'asset.ready']);
});
