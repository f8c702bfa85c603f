// Tests what a report records besides the state: warnings, events and the next check (contract B6, B8).
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
import { addMs } from './reconcile-schedule.ts';
import type { StreamReport } from './stream-report.ts';

const { processing, ready, failed } = VIDEOS;
const succeeded = createReport('succeeded');
const warning = (code: string) => ({ code, message: code });
const codesAfter = (asset: Asset, report: StreamReport) =>
  afterReport(asset, report).warnings.map(({ code }) => code);
const changeOf = (asset: Asset, report: StreamReport) => decideReport(asset, report, LATER).change;

describe('warnings', () => {
  const warned = { ...ready, warnings: [warning('encoding_incomplete'), warning('audio_unsupported')] };

  test('about missing renditions end with the last word of the provider, others stay', () => {
    expect(codesAfter(warned, { ...succeeded, source: 'inspect' })).toEqual(['audio_unsupported']);
    expect(codesAfter(warned, succeeded)).toEqual(['encoding_incomplete', 'audio_unsupported']);
  });
  test('of a report are added once to those that are known', () => {
    const added = [warning('audio_unsupported'), warning('playback_unconfigured')];
    expect(codesAfter(warned, createReport('succeeded', { warnings: added }))).toEqual([
      'encoding_incomplete',
      'audio_unsupported',
      'playback_unconfigured',
    ]);
  });
});

describe('events', () => {
  test('name the columns that changed, only those that callers see', () => {
    expect(changeOf(ready, createReport('failed'))).toMatchObject({
      events: [{ type: 'asset.updated', data: { attempt: 1, source: 'webhook', fields: ['warnings'] } }],
      jobs: [],
    });
    const another = createReport('failed', { ...withFailure('other'), progress: 50 });
    const [event] = changeOf(failed, another)?.events ?? [];
    expect(event?.type).toBe('asset.updated');
    expect(new Set(event?.data['fields'] as string[])).toEqual(new Set(['failure', 'progress']));
  });
  test('of progress carry attempt, source and percentage', () => {
    expect(changeOf(processing, createReport('started', { progress: 40 }))?.events).toEqual([
      { type: 'asset.progress', data: { attempt: 1, source: 'webhook', progress: 40 } },
    ]);
  });
  test('are not recorded for a change that callers do not see', () => {
    const change = changeOf(ready, {
      ...succeeded,
      ...withUrls('https://a.example/1.m3u8'),
      source: 'inspect',
    });
    expect(change?.set).toEqual({ settled: true });
    expect(change?.events).toEqual([]);
  });
});

describe('the next check', () => {
  test('is set again for another attempt in the same state', () => {
    const unchecked = { ...processing, reconcile_at: null };
    expect(changeOf(unchecked, createReport('started', { attempt: 2 }))?.set).toMatchObject({
      reconcile_at: addMs(LATER, 2 * 60_000),
    });
    expect(changeOf(unchecked, createReport('started', { progress: 1 }))?.set).toEqual({ progress: 1 });
  });
  test('is set again after the last word of the provider', () => {
    const hosted = createVideo({ provider: 'cdnhost', provider_video_id: 'guid-1' });
    const report = createReport('failed', { provider: 'cdnhost', ...withFailure('too_long') });
    const failedHosted = { ...afterReport(hosted, report, NOW), reconcile_at: null };
    expect(changeOf(failedHosted, { ...report, source: 'inspect' })?.set).toEqual({
      settled: true,
      reconcile_at: addMs(LATER, 30 * 60_000),
    });
  });
});
