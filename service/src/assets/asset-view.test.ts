// Tests warnings of the view, and that its ETag changes with the settings that playback URLs depend on.
import { expect, test } from 'vitest';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import type { Asset } from './asset.ts';
import { UNKNOWN_TIMES } from './asset-view.fixture.ts';
import { type AssetViewContext, toAssetView, toEtag } from './asset-view.ts';

const contextAt = (base: string): AssetViewContext => ({
  playbackBaseUrl: () => base,
  findHostedPlayback: () => undefined,
  canRetry: () => false,
  segmentEncryption: 'off',
  expectedTimes: UNKNOWN_TIMES,
});
const asset = (playback: Partial<Asset['playback']> | null, revision = 3): Asset =>
  createVideo({ revision, playback: playback as Asset['playback'], visibility: 'public' });

const service = contextAt('https://media.example.com');
const cdn = contextAt('https://cdn.example.com');

test.each(['own', 'image'] as const)('the ETag of %s files changes with the base URL', (kind) => {
  const etag = toEtag(asset({ kind }), service);
  expect(toEtag(asset({ kind }), cdn)).not.toBe(etag);
  expect(toEtag(asset({ kind }), service)).toBe(etag);
  expect(toEtag(asset({ kind }, 4), service)).not.toBe(etag);
});

test.each([null, { kind: 'urls' } as const])('the ETag of %j does not depend on it', (playback) => {
  expect(toEtag(asset(playback), service)).toBe('"r3"');
  expect(toEtag(asset(playback), cdn)).toBe('"r3"');
});

test('rules for viewers of URLs that an encoder reported later are a warning', () => {
  const playback = {
    kind: 'urls',
    attempt: 1,
    hls: 'https://a.example/m',
    dash: null,
    thumbnail: null,
  } as const;
  const warningsOf = (access: Asset['access']) =>
    toAssetView(createVideo({ playback, access }), service).warnings.map(({ code }) => code);
  expect(warningsOf({ countries: ['DE'] })).toEqual(['access_not_enforced']);
  expect(warningsOf({ downloads: false })).toEqual([]);
});
