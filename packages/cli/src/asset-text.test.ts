// Tests what a person reads about an asset.
import type { Asset } from '@mediary/client';
import { EXAMPLE_ASSET } from '@mediary/contract/schemas/assets/asset';
import { describe, expect, test } from 'vitest';
import { describeStatus, formatAsset } from './asset-text.ts';

const ASSET: Asset = {
  ...EXAMPLE_ASSET,
  id: 'a-1',
  visibility: 'public',
  metadata: null,
  playback: { hls: 'http://media.test/a-1/hls.m3u8', dash: null, thumbnail: null },
};

describe('formatAsset', () => {
  test('shows who may play the asset', () => {
    const access = { referrers: ['a.example'], allow_no_referrer: true, countries: ['DE'], downloads: false };
    expect(formatAsset({ ...ASSET, access })).toMatch(/sites a\.example or none; countries DE; no downloads/);
    expect(formatAsset({ ...ASSET, access: null })).not.toContain('access');
  });

  test('shows when a video that is being processed is ready', () => {
    const expected_ready_at = new Date(Date.now() + 180_000).toISOString();
    const text = formatAsset({ ...ASSET, stream_status: 'processing', expected_ready_at, queue_position: 2 });
    expect(text).toMatch(/^expected +ready in about 3 min, number 2 in the queue$/m);
    expect(formatAsset(ASSET)).not.toContain('expected');
  });

  test('shows the URLs of a public asset', () => {
    expect(formatAsset(ASSET)).toMatch(/^hls +http:.*hls\.m3u8$/m);
  });

  test('shows how to play a private one, whose URLs need a token', () => {
    const text = formatAsset({ ...ASSET, visibility: 'private' });
    expect(text).toMatch(/^play +mediary open a-1$/m);
    expect(text).not.toContain('hls.m3u8');
  });
});

test('describeStatus says that a video plays already', () => {
  const asset: Asset = { ...ASSET, stream_status: 'processing', progress: 40 };
  expect(describeStatus({ ...asset, playable_at: null })).toBe('processing 40%');
  expect(describeStatus({ ...asset, playable_at: '2026-11-22T10:15:00.000Z' })).toBe(
    'processing 40%, playable',
  );
});
