// Image variants as pages request them: sizes, formats, visibility and caching.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AssetJson, IMAGE, openUpload, storeImage } from '../../support/media.ts';
import { movie } from '../../support/clips/pictures.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';

const BROWSER = 'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5';

let service: TestService;
let shown: AssetJson;
let hidden: AssetJson;

const draw = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#2a6f97' } });

beforeAll(async () => {
  service = await startTestService();
  const photo = await draw(1200, 800).png().toBuffer();
  [shown, hidden] = await Promise.all([
    storeImage(service, photo, { visibility: 'public' }),
    storeImage(service, photo, {}),
  ]);
});
afterAll(() => service.stop());

const imageUrl = ({ id }: AssetJson, query = '') => `${service.url}/playback/${id}/image${query}`;
const get = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { redirect: 'manual', headers });
const addressesOf = async ({ id }: AssetJson) =>
  (
    await call<{ image: string; thumbnail: string }>(service, `GET /media/${id}/playback`, {
      headers: asUser('ann'),
    })
  ).body.data;

async function seen(url: string, headers: Record<string, string> = {}) {
  const answer = await get(url, headers);
  const { format, width, height, pages } = await sharp(Buffer.from(await answer.arrayBuffer()), {
    animated: true,
  }).metadata();
  return { status: answer.status, type: answer.headers.get('content-type'), format, width, height, pages };
}

describe('a page gets', () => {
  test.each([
    ['?w=320', 320, 213],
    ['?h=320', 480, 320],
    ['?w=320&h=64', 96, 64],
    ['?w=2560', 1200, 800],
    ['', 1200, 800],
    ['?w=256&h=256&fit=cover', 256, 256],
    ['?w=256&h=256&fit=contain', 256, 256],
    ['?w=2560&h=2560&fit=cover', 800, 800],
  ])('the requested size, but no larger than the original: %j', async (query, width, height) => {
    expect(await seen(imageUrl(shown, query))).toMatchObject({
      status: 200,
      type: 'image/jpeg',
      format: 'jpeg',
      width,
      height,
    });
  });

  test.each([
    ['AVIF', BROWSER, { type: 'image/avif', format: 'heif' }],
    ['WebP', 'image/webp,*/*', { type: 'image/webp', format: 'webp' }],
    ['JPEG', '*/*', { type: 'image/jpeg', format: 'jpeg' }],
  ])('%s if it accepts that', async (_, accept, expected) => {
    expect(await seen(imageUrl(shown, '?w=128'), { accept })).toMatchObject({ ...expected, width: 128 });
    expect((await get(imageUrl(shown, '?w=128'), { accept })).headers.get('vary')).toContain('Accept');
  });

  test('the requested format, whatever Accept says', async () => {
    expect(await seen(imageUrl(shown, '?w=128&format=png'), { accept: BROWSER })).toMatchObject({
      type: 'image/png',
      format: 'png',
    });
    expect((await get(imageUrl(shown, '?w=128&format=png'))).headers.get('vary') ?? '').not.toContain(
      'Accept',
    );
  });

  test('inert bytes under a neutral file name', async () => {
    const { headers } = await get(imageUrl(shown, '?w=64&format=webp'));
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/webp',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'content-disposition': 'inline; filename="64x43.webp"; filename*=UTF-8\'\'64x43.webp',
      'access-control-allow-origin': '*',
    });
  });

  test('a thumbnail', async () => {
    expect(await seen(`${service.url}/playback/${shown.id}/thumb.jpg`)).toMatchObject({
      status: 200,
      type: 'image/jpeg',
      width: 640,
      height: 427,
    });
  });

  test('an animation as an animation', async () => {
    const film = await storeImage(
      service,
      await movie({ width: 160, height: 120, frames: 4, format: 'gif' }),
      {
        mime_type: 'image/gif',
        visibility: 'public',
      },
    );
    expect(await seen(imageUrl(film, '?w=64'), { accept: BROWSER })).toMatchObject({
      type: 'image/webp',
      width: 64,
      pages: 4,
    });
    expect(await seen(imageUrl(film, '?w=64'))).toMatchObject({ type: 'image/gif', width: 64, pages: 4 });
  });
});

test('a large AVIF comes at once, and in fewer bytes later', async () => {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const dots = await sharp({ create: { width: 250, height: 138, channels: 3, background: 'black', noise } })
    .png()
    .toBuffer();
  const photo = sharp(dots).resize(2000, 1100, { fit: 'fill' });
  const { id } = await storeImage(service, await photo.jpeg().toBuffer(), {
    mime_type: 'image/jpeg',
    visibility: 'public',
  });
  const request = async (headers = {}) => {
    const answer = await get(`${service.url}/playback/${id}/image?w=1920`, { accept: BROWSER, ...headers });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, etag: answer.headers.get('etag') ?? '', bytes };
  };
  const fast = await request();
  await expect.poll(async () => (await request()).etag, { timeout: 60_000 }).not.toBe(fast.etag);
  const improved = await request({ 'if-none-match': fast.etag });
  expect(improved.status).toBe(200);
  expect(improved.bytes.length).toBeLessThan(fast.bytes.length * 0.95);
  const sizes = [fast, improved].map(async ({ bytes }) => {
    const { format, width, height } = await sharp(bytes).metadata();
    return { format, width, height };
  });
  const size = { format: 'heif', width: 1920, height: 1056 };
  expect(await Promise.all(sizes)).toEqual([size, size]);
});

describe('an image URL', () => {
  test('is cached for 1 h with its version, 5 min without; if private, not by shared caches', async () => {
    const { image } = await addressesOf(shown);
    expect(image).toBe(imageUrl(shown, '?v=1'));
    const cachingOf = async (url: string) => (await get(url)).headers.get('cache-control');
    expect(await cachingOf(`${image}&w=64`)).toBe('public, max-age=3600');
    expect([
      await cachingOf(imageUrl(shown, '?w=64')),
      await cachingOf(imageUrl(shown, '?w=64&v=0')),
    ]).toEqual(['public, max-age=300', 'public, max-age=300']);
    expect(await cachingOf(`${(await addressesOf(hidden)).image}&w=64`)).toBe('private, max-age=300');
  });

  test('supports ETag, HEAD and ranges', async () => {
    const whole = await get(imageUrl(shown, '?w=64'));
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(
      (await get(imageUrl(shown, '?w=64'), { 'if-none-match': whole.headers.get('etag') ?? '' })).status,
    ).toBe(304);
    const head = await fetch(imageUrl(shown, '?w=64'), { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
    const part = await get(imageUrl(shown, '?w=64'), { range: 'bytes=0-9' });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, bytes.subarray(0, 10)]);
  });

  test('is rendered once for concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => get(imageUrl(shown, '?w=480&format=webp'))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await filesNaming(service.dataDir, `${shown.id}/480x320.webp`)).length).toBe(1);
  });

  test.each([
    'w=3841',
    'w=0',
    'w=-64',
    'w=64.0',
    'w=',
    'w=64&w=64',
    'w=abc',
    'h=99999',
    'fit=outside',
    'format=svg',
    'format=gif',
    'format=JPEG',
  ])('with an unsupported parameter is rejected: %s', async (query) => {
    const { status, body } = await call(service, `GET ${imageUrl(shown, `?${query}`)}`);
    expect([status, body.error.error_code, body.error.details?.['field']]).toEqual([
      400,
      'BAD_REQUEST',
      query.split('=')[0],
    ]);
  });
});

describe('a private image', () => {
  test('needs the signed URL', async () => {
    const { image, thumbnail } = await addressesOf(hidden);
    expect(await seen(`${image}&w=320`)).toMatchObject({ status: 200, width: 320 });
    expect(await seen(thumbnail)).toMatchObject({ status: 200, width: 640 });
    expect([
      (await get(imageUrl(hidden))).status,
      (await get(image.replace(/~[^/]+/, '~wrong'))).status,
    ]).toEqual([404, 401]);
  });

  test('redirects from the fixed path with ?token= to the path with the token', async () => {
    const { image } = await addressesOf(hidden);
    const token = /~([^/]+)/.exec(image)?.[1] ?? '';
    const answer = await get(imageUrl(hidden, `?w=64&fit=cover&token=${token}`));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'no-store']);
    expect(new URL(answer.headers.get('location') ?? '', answer.url).href).toBe(
      image.replace('?v=1', '?w=64&fit=cover'),
    );
    expect((await get(imageUrl(hidden, '?token=x'))).status).toBe(401);
  });
});

test('videos without poster, unfinished, unknown and deleted assets have no image', async () => {
  const video = await openUpload(service, 'ann', { visibility: 'public' });
  const waiting = await openUpload(service, 'ann', { ...IMAGE, visibility: 'public' });
  const doomed = await storeImage(service, await draw(64, 64).png().toBuffer(), { visibility: 'public' });
  expect((await get(imageUrl(doomed, '?w=64'))).status).toBe(200);
  await call(service, `DELETE /media/${doomed.id}`, { headers: asUser('ann') });
  for (const id of [
    video.asset_id,
    waiting.asset_id,
    '01900000-0000-7000-8000-000000000000',
    'nobody',
    doomed.id,
  ]) {
    expect((await call(service, `GET /playback/${id}/image?w=64`)).status, id).toBe(404);
  }
});
