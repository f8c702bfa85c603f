// Tests the outcome of each report: `processed` and its reason (contract B6).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createReport, createVideo, LATER, NOW, VIDEOS, withFailure, withUrls } from '../asset.fixture.ts';
import { decideReport } from './decide.ts';
import type { StreamReport } from './stream-report.ts';

const { pending, processing, ready, failed: failedVideo, refused: refusedVideo } = VIDEOS;
const started = createReport('started');
const failed = createReport('failed');
const succeeded = createReport('succeeded');

const outcome = (asset: Asset, report: StreamReport) => {
  const { processed, reason } = decideReport(asset, report, LATER);
  return `${processed} ${reason}`;
};

describe('the outcome of a report', () => {
  const outcomes = [
    ['processing of a pending asset', pending, started, 'true applied'],
    ['processing, repeated', processing, started, 'true repeat'],
    ['processing with more progress', processing, createReport('started', { progress: 10 }), 'true applied'],
    ['processing after failed', failedVideo, started, 'false late'],
    ['processing after ready', ready, started, 'false late'],
    ['failed for a pending asset', pending, failed, 'true applied'],
    ['failed while processing', processing, failed, 'true applied'],
    ['failed, repeated', failedVideo, failed, 'true repeat'],
    [
      'failed with another code',
      failedVideo,
      createReport('failed', withFailure('too_long')),
      'true applied',
    ],
    ['failed after ready', ready, failed, 'false late'],
    ['ready for a pending asset', pending, succeeded, 'true applied'],
    ['ready while processing', processing, succeeded, 'true applied'],
    ['ready after failed', failedVideo, succeeded, 'true applied'],
    ['ready, repeated', ready, succeeded, 'true repeat'],
    [
      'ready with another URL',
      ready,
      createReport('succeeded', withUrls('https://a.example/2.m3u8')),
      'true applied',
    ],
    [
      'ready for the named current attempt',
      processing,
      createReport('succeeded', { attempt: 1 }),
      'true applied',
    ],
    [
      'ready for an older attempt',
      { ...ready, attempt: 2 },
      createReport('succeeded', { attempt: 1 }),
      'false older_attempt',
    ],
    ['processing of a newer attempt', ready, createReport('started', { attempt: 2 }), 'true applied'],
    ['failed for a newer attempt', ready, createReport('failed', { attempt: 3 }), 'true applied'],
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
      createReport('succeeded', { attempt: 1 }),
      'false older_attempt',
    ],
    [
      'a refused asset: a newer attempt',
      refusedVideo,
      createReport('succeeded', { attempt: 2 }),
      'true applied',
    ],
  ] as const;
  for (const [name, asset, report, expected] of outcomes) {
    test(`${name}: ${expected}`, () => {
      expect(outcome(asset, report)).toBe(expected);
    });
  }

  test('an ignored report changes nothing', () => {
    const ignoring: Asset[] = [
      { ...processing, deleted_at: NOW },
      createVideo({ provider: 'cdnhost' }),
      refusedVideo,
      { ...ready, attempt: 9 },
    ];
    for (const asset of ignoring) {
      for (const event of ['started', 'failed', 'succeeded'] as const) {
        expect(
          decideReport(
            asset,
            createReport(event, { attempt: 1, progress: 50, ...withUrls('https://b.example/') }),
            NOW,
          ).change,
        ).toBeUndefined();
      }
    }
  });
});
