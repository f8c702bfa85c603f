// Tests the planned response for each asset, request and kind of delivery.
import { expect, test } from 'vitest';
import type { PlaybackAsset } from '../assets/asset.ts';
import { toSecret } from '../auth/secret.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { DELIVERY } from './context.fixture.ts';
import { currentKeyId } from './encrypted-files.ts';
import { type FileDelivery, type FileRequest, planResponse } from './plan-response.ts';
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
const ruled = createVideo({ playback, visibility: 'public', access: { networks: ['10.0.0.0/8'] } });
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

type Row = {
  readonly what: string;
  /** Default: the public video. */
  readonly asset?: PlaybackAsset;
  readonly request?: Partial<FileRequest>;
  readonly delivery?: Partial<FileDelivery>;
  readonly expected: object;
};
const OBJECT = { kind: 'object' };
const MANIFEST = { kind: 'manifest', isGrowing: false };
const SEGMENT_KEY = `renditions/${shown.id}/${SEGMENT}`;

test.each<Row>([
  {
    what: 'a segment is an object',
    expected: { ...OBJECT, key: SEGMENT_KEY, etag: SEGMENT, isCacheable: true, isRepeatable: true },
  },
  {
    what: 'a manifest',
    request: { path: 'hls.m3u8' },
    expected: {
      ...MANIFEST,
      manifest: { name: 'hls.m3u8', folder: '1-1', keyId: undefined, captions: [] },
      headers: { 'content-type': 'application/vnd.apple.mpegurl', 'cache-control': 'public, max-age=10' },
    },
  },
  {
    what: 'a media playlist, which never changes',
    request: { path: '1-1/r0.m3u8' },
    expected: {
      ...MANIFEST,
      manifest: { name: 'r0.m3u8' },
      headers: { 'cache-control': 'public, max-age=31536000, s-maxage=3600, immutable' },
    },
  },
  {
    what: 'a manifest of a run that goes on',
    asset: growing,
    request: { path: 'dash.mpd' },
    expected: { kind: 'manifest', isGrowing: true },
  },
  {
    what: 'a manifest with captions',
    asset: captioned,
    request: { path: 'dash.mpd' },
    expected: { ...MANIFEST, manifest: { captions: [caption] } },
  },
  {
    what: 'the playlist of captions',
    asset: captioned,
    request: { path: 'captions/de.m3u8' },
    expected: { kind: 'text' },
  },
  {
    what: 'a URL of others',
    asset: reported,
    request: { path: 'hls.m3u8' },
    expected: { kind: 'redirect', location: 'https://a.example/m.m3u8' },
  },
  {
    what: 'a segment of the store',
    delivery: BY_STORE,
    expected: {
      kind: 'store-redirect',
      presign: {
        key: SEGMENT_KEY,
        responseContentType: 'video/iso.segment',
        responseCacheControl: 'private, max-age=600, immutable',
        expiresInSeconds: 600,
      },
      isEntry: false,
      downloadName: undefined,
    },
  },
  {
    what: 'a file of the store with a name',
    request: { path: 'video.mp4', query: { download: 'a.mp4' } },
    delivery: BY_STORE,
    expected: { kind: 'store-redirect', isEntry: true, downloadName: 'a.mp4' },
  },
  {
    what: 'HEAD of a segment of the store',
    request: { method: 'HEAD' },
    delivery: BY_STORE,
    expected: OBJECT,
  },
  {
    what: 'a manifest, also where clients reach the store',
    request: { path: '1-1/r0.m3u8' },
    delivery: BY_STORE,
    expected: MANIFEST,
  },
  { what: 'a picture of the store', request: { path: 'thumb.jpg' }, delivery: BY_STORE, expected: OBJECT },
  {
    what: 'a segment of a store that clients do not reach',
    delivery: { segments: 'redirect' },
    expected: OBJECT,
  },
  {
    what: 'a segment from nginx',
    request: { isProxied },
    delivery: BY_NGINX,
    expected: {
      kind: 'internal-redirect',
      headers: {
        'x-accel-redirect': `/_mediary/objects/${SEGMENT_KEY}`,
        'x-accel-expires': '1',
        'content-type': 'video/iso.segment',
      },
    },
  },
  {
    what: 'a segment by its file',
    request: { isProxied },
    delivery: { ...BY_NGINX, segments: 'x-sendfile' },
    expected: {
      kind: 'internal-redirect',
      headers: { 'x-sendfile': `/srv/media/objects/${SEGMENT_KEY}` },
    },
  },
  { what: 'a request that did not pass nginx', delivery: BY_NGINX, expected: OBJECT },
  {
    what: 'a manifest behind nginx',
    request: { path: 'hls.m3u8', isProxied },
    delivery: BY_NGINX,
    expected: MANIFEST,
  },
  {
    what: 'a file outside the folder',
    request: { isProxied },
    delivery: { ...BY_NGINX, storeFolder: '/srv/other' },
    expected: OBJECT,
  },
  {
    what: 'no disk store',
    request: { isProxied },
    delivery: { ...BY_NGINX, localFile: () => undefined },
    expected: OBJECT,
  },
  {
    what: 'the manifest of an encrypted video',
    asset: hidden,
    request: { path: 'hls.m3u8', token },
    delivery: ENCRYPTED,
    expected: { ...MANIFEST, manifest: { name: 'hls.m3u8', keyId } },
  },
  {
    what: 'an encrypted playlist',
    asset: hidden,
    request: { path: `1-1/${keyId}/r0.m3u8`, token },
    delivery: ENCRYPTED,
    expected: { ...MANIFEST, manifest: { name: 'r0.m3u8', keyId } },
  },
  {
    what: 'an encrypted segment, also of a store that clients reach',
    asset: hidden,
    request: { path: `1-1/${keyId}/r0-00001.m4s`, token },
    delivery: { ...ENCRYPTED, ...BY_STORE },
    expected: { ...OBJECT, cipher: expect.anything(), isRepeatable: false },
  },
  {
    what: 'the key of encrypted segments',
    asset: hidden,
    request: { path: `1-1/${keyId}/r0.key`, token },
    delivery: ENCRYPTED,
    expected: { kind: 'segment-key' },
  },
])('$what', ({ asset = shown, request = {}, delivery = {}, expected }) => {
  expect(plan(asset, request, delivery)).toMatchObject(expected);
});

test.each([hidden, ruled])('%#: nginx repeats nothing that a cookie opens or rules limit', (asset) => {
  const planned = plan(asset, { isProxied }, BY_NGINX);
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

test('a whole file is forbidden where downloads are, but no segment', () => {
  const asset = { ...shown, access: { downloads: false } };
  for (const path of ['video.mp4', 'audio.m4a'])
    expect(() => plan(asset, { path })).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  expect(plan(asset, {})).toMatchObject(OBJECT);
});

test.each(['video.mp4', 'audio.m4a'])('a CDN keeps %s no longer than a manifest', (path) => {
  const headersOf = (file: string) => {
    const planned = plan(shown, { path: file }, { cdnMaxAge: { publicSeconds: 86_400, privateSeconds: 0 } });
    return 'headers' in planned && planned.headers;
  };
  expect(headersOf(SEGMENT)).toHaveProperty('cdn-cache-control', 'max-age=86400');
  expect(headersOf(path)).not.toHaveProperty('cdn-cache-control');
  expect(headersOf(path)).toHaveProperty('cache-control', 'public, max-age=10');
});
