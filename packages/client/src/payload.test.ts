// Where readers of Payload are sent, for each kind of asset and before it can be shown.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiServer, answer, startApiServer } from './api-server.fixture.ts';
import { type MediaryStorageOptions, mediaryStorage } from './payload.ts';

let api: ApiServer;
beforeAll(async () => {
  api = await startApiServer();
});
afterAll(() => api.close());

const VIDEO = {
  kind: 'video',
  image: null,
  embed: 'https://m.test/1/~t/embed',
  hls: 'https://m.test/1.m3u8',
};
const READY = { id: '1', mime_type: 'video/mp4', stream_status: 'ready' };

const adapterOf = (options: Partial<MediaryStorageOptions> = {}) =>
  mediaryStorage({ baseUrl: api.url, serviceKey: 'key', ownerUserId: 'cms', ...options })({
    collection: { slug: 'media' },
    prefix: '2026',
  });

/** A service that has these assets, with this playback. */
const serve = (items: readonly object[], playback: object = VIDEO): void =>
  api.handle(({ path }, response) =>
    answer(response, path.includes('/playback') ? playback : { items, next_cursor: null }),
  );

async function open(options: Partial<MediaryStorageOptions> = {}, doc = {}) {
  const response = await adapterOf(options).staticHandler(undefined, {
    doc,
    headers: new Headers({ 'x-own': 'kept' }),
    params: { filename: 'a b.mp4' },
  });
  return [response.status, response.headers.get('location') ?? response.headers.get('retry-after')];
}

test('a reader is redirected to the page, the manifest or the picture', async () => {
  serve([READY]);
  expect(await open()).toEqual([302, VIDEO.embed]);
  expect(await open({ videoUrl: 'hls' })).toEqual([302, VIDEO.hls]);
  serve([READY], { ...VIDEO, embed: null });
  expect(await open(), 'a video of a hosted provider').toEqual([302, VIDEO.hls]);
  serve([READY], { kind: 'image', image: 'https://m.test/1/~t/image' });
  expect(await open()).toEqual([302, 'https://m.test/1/~t/image']);
});

test('a file that is not there is 404, and one that cannot be shown yet 503', async () => {
  serve([]);
  expect(await open()).toEqual([404, null]);
  for (const stream_status of ['failed', 'pending_upload']) {
    serve([{ ...READY, stream_status }]);
    expect(await open()).toEqual([404, null]);
  }
  serve([{ ...READY, stream_status: 'processing' }], { ...VIDEO, embed: null, hls: null });
  expect(await open()).toEqual([503, '5']);
});

test('a file is found by its collection, the prefix of its document, and its name', async () => {
  serve([]);
  await open();
  await open({}, { prefix: 'own' });
  const asked = api.requests.map(({ path }) => new URL(path, api.url).searchParams.get('external_id'));
  expect(asked).toEqual(['payload:media/2026/a b.mp4', 'payload:media/own/a b.mp4']);
});

test('public files have fixed URLs, which need no request', async () => {
  serve([]);
  const data = { id: 7, filename: 'a.mp4', mimeType: 'video/mp4', mediaryId: '1' };
  const urlOf = (options: Partial<MediaryStorageOptions>, changes = {}) =>
    adapterOf({ visibility: 'public', publicUrl: 'https://m.test/', ...options }).generateURL({
      data: { ...data, ...changes },
      filename: 'a.mp4',
    });
  const base = 'https://m.test/api/v1/playback/1';
  expect(await urlOf({})).toBe(`${base}/embed`);
  expect(await urlOf({ videoUrl: 'hls' })).toBe(`${base}/hls.m3u8`);
  expect(await urlOf({}, { mimeType: 'image/png' })).toBe(`${base}/image`);
  expect(await urlOf({}, { id: undefined, mediaryId: undefined }), 'before the upload').toBe('');
  expect(api.requests).toEqual([]);
});

test('the URL of a size is that of its own asset, and of a private file has a token', async () => {
  serve([{ ...READY, id: '2', mime_type: 'image/png' }], { kind: 'image', image: 'https://m.test/~t/image' });
  const data = { id: 7, filename: 'a.png', mimeType: 'image/png', mediaryId: '1' };
  const request = { data, filename: 'a-64x64.png' };
  expect(await adapterOf({ visibility: 'public' }).generateURL(request)).toBe(
    `${api.url}/api/v1/playback/2/image`,
  );
  expect(await adapterOf().generateURL({ ...request, filename: 'a.png' })).toBe('https://m.test/~t/image');
});
