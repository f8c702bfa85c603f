// Tests the planned response for each asset, request and kind of delivery.
import { describe, expect, test } from 'vitest';
import type { PlaybackAsset } from '../assets/asset.ts';
import { toSecret } from '../auth/secret.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { DELIVERY } from './context.fixture.ts';
import { currentKeyId } from './encrypted-files.ts';
import { type FileDelivery, type FileRequest, planResponse, redirectCaching } from './plan-response.ts';
import { issuePlaybackToken } from './playback-token.ts';

const urlSecrets = [toSecret('plan-response-secret-0123456789abcdef')];
const playback = { kind: 'own', attempt: 1, folder: '1-1' } as const;
const caption = {
  language: 'de',
  label: 'Deutsch',
  kind: 'subtitles',
  isDefault: false,
  isEmbedded: false,
  fileId: '01900000-0000-7000-8000-000000000001',
  sizeBytes: 9,
  endMs: 4000,
  updatedAt: NOW.toISOString(),
} as const;
const shown = createVideo({ playback, visibility: 'public' });
const hidden = createVideo({ playback, visibility: 'private' });
const growing = createVideo({ playback: { ...playback, growing: true }, visibility: 'public' });
const captioned = createVideo({ playback, visibility: 'public', captions: [caption] });
const reported = createVideo({
  playback: { kind: 'urls', attempt: 1, hls: 'https://a.example/m.m3u8', dash: null, thumbnail: null },
});
const token = issuePlaybackToken(urlSecrets, hidden, NOW.getTime() / 1000 + 60);
const keyId = currentKeyId(urlSecrets, hidden, '1-1');
const SEGMENT = '1-1/r0-00001.m4s';

const BY_STORE = { segments: 'redirect', isStoreReachable: true } as const;
const localFile = (key: string) => `/srv/media/objects/${key}`;
const BY_NGINX = { segments: 'x-accel-redirect', localFile } as const;
const isProxied = () => true;
const ENCRYPTED = { segmentEncryption: 'private' } as const;

const plan = (asset: PlaybackAsset, request: Partial<FileRequest>, delivery: Partial<FileDelivery> = {}) =>
  planResponse(
    asset,
    { path: SEGMENT, method: 'GET', query: {}, token: undefined, isProxied: () => false, ...request },
    { ...DELIVERY, urlSecrets, now: () => NOW, ...delivery },
  );

type Row = readonly [
  what: string,
  asset: PlaybackAsset,
  request: Partial<FileRequest>,
  delivery: Partial<FileDelivery>,
  expected: object,
];

test.each<Row>([
  [
    'a segment is an object',
    shown,
    {},
    {},
    {
      kind: 'object',
      key: `renditions/${shown.id}/1-1/r0-00001.m4s`,
      etag: '1-1/r0-00001.m4s',
      isCacheable: true,
      isRepeatable: true,
    },
  ],
  [
    'a manifest as it is stored is an object',
    shown,
    { path: 'hls.m3u8' },
    {},
    {
      kind: 'object',
      isCacheable: false,
      isRepeatable: false,
      headers: { 'content-type': 'application/vnd.apple.mpegurl', 'cache-control': 'public, max-age=10' },
    },
  ],
  [
    'a manifest of a run that goes on',
    growing,
    { path: 'dash.mpd' },
    {},
    {
      kind: 'manifest',
      growing: { folder: '1-1', name: 'dash.mpd' },
      edits: [],
    },
  ],
  [
    'a manifest with captions',
    captioned,
    { path: 'dash.mpd' },
    {},
    {
      kind: 'manifest',
      growing: undefined,
      edits: [expect.any(Function)],
    },
  ],
  ['the playlist of captions', captioned, { path: 'captions/de.m3u8' }, {}, { kind: 'text' }],
  [
    'a URL of others',
    reported,
    { path: 'hls.m3u8' },
    {},
    {
      kind: 'redirect',
      location: 'https://a.example/m.m3u8',
    },
  ],
  [
    'a segment of the store',
    shown,
    {},
    BY_STORE,
    {
      kind: 'store-redirect',
      presign: {
        key: `renditions/${shown.id}/1-1/r0-00001.m4s`,
        responseContentType: 'video/iso.segment',
        responseCacheControl: 'private, max-age=600, immutable',
        expiresInSeconds: 600,
      },
      downloadName: undefined,
    },
  ],
  [
    'a file of the store with a name',
    shown,
    { path: 'video.mp4', query: { download: 'a.mp4' } },
    BY_STORE,
    {
      kind: 'store-redirect',
      downloadName: 'a.mp4',
    },
  ],
  ['HEAD of a segment of the store', shown, { method: 'HEAD' }, BY_STORE, { kind: 'object' }],
  ['a manifest of the store', shown, { path: '1-1/r0.m3u8' }, BY_STORE, { kind: 'object' }],
  ['a picture of the store', shown, { path: 'thumb.jpg' }, BY_STORE, { kind: 'object' }],
  ['a segment of a store that clients do not reach', shown, {}, { segments: 'redirect' }, { kind: 'object' }],
  [
    'a segment from nginx',
    shown,
    { isProxied },
    BY_NGINX,
    {
      kind: 'internal-redirect',
      headers: {
        'x-accel-redirect': `/_mediary/objects/renditions/${shown.id}/1-1/r0-00001.m4s`,
        'x-accel-expires': '1',
        'content-type': 'video/iso.segment',
      },
    },
  ],
  [
    'a segment by its file',
    shown,
    { isProxied },
    { ...BY_NGINX, segments: 'x-sendfile' },
    {
      kind: 'internal-redirect',
      headers: { 'x-sendfile': `/srv/media/objects/renditions/${shown.id}/1-1/r0-00001.m4s` },
    },
  ],
  ['a request that did not pass nginx', shown, {}, BY_NGINX, { kind: 'object' }],
  ['a manifest behind nginx', shown, { path: 'hls.m3u8', isProxied }, BY_NGINX, { kind: 'object' }],
  [
    'a file outside the folder',
    shown,
    { isProxied },
    { ...BY_NGINX, storeFolder: '/srv/other' },
    {
      kind: 'object',
    },
  ],
  ['no disk store', shown, { isProxied }, { ...BY_NGINX, localFile: () => undefined }, { kind: 'object' }],
  [
    'the manifest of an encrypted video',
    hidden,
    { path: 'hls.m3u8', token },
    ENCRYPTED,
    {
      kind: 'manifest',
      edits: [expect.any(Function)],
    },
  ],
  [
    'an encrypted playlist',
    hidden,
    { path: `1-1/${keyId}/r0.m3u8`, token },
    ENCRYPTED,
    {
      kind: 'manifest',
      object: { etag: `1-1/${keyId}/r0.m3u8` },
    },
  ],
  [
    'an encrypted segment, also of a store that clients reach',
    hidden,
    {
      path: `1-1/${keyId}/r0-00001.m4s`,
      token,
    },
    { ...ENCRYPTED, ...BY_STORE },
    { kind: 'object', cipher: expect.anything(), isRepeatable: false },
  ],
  [
    'the key of encrypted segments',
    hidden,
    { path: `1-1/${keyId}/r0.key`, token },
    ENCRYPTED,
    {
      kind: 'segment-key',
    },
  ],
])('%s', (_what, ...[asset, request, delivery, expected]) => {
  expect(plan(asset, request, delivery)).toMatchObject(expected);
});

test('a cookie opens a segment of nginx once only', () => {
  const planned = plan(hidden, { isProxied }, BY_NGINX);
  expect(planned).toMatchObject({ kind: 'internal-redirect' });
  expect(planned).not.toHaveProperty(['headers', 'x-accel-expires']);
});

test.each([
  [hidden, SEGMENT, ENCRYPTED],
  [shown, '2-1/r0-00001.m4s', {}],
  [reported, 'dash.mpd', {}],
] as const)('%#: a file that is not offered is not found', (asset, path, delivery) => {
  expect(() => plan(asset, { path }, delivery)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
});

describe('a redirect to the store', () => {
  test.each([
    [600, 'private, max-age=300'],
    [100, 'private, max-age=50'],
    [-5, 'private, max-age=0'],
  ])('to a URL that is valid for %d s may be used for half of that', (seconds, caching) => {
    const expiresAt = new Date(NOW.getTime() + seconds * 1000);
    expect(redirectCaching({ expiresAt, now: NOW })).toBe(caching);
  });
});
