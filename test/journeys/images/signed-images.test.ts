// A back end signs URLs of images in any size and with edits, and operators name presets.
import { createMediary } from '@mediary/client';
import { signImageUrl } from '@mediary/client/server';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request, sendRaw } from '../../support/http/raw-socket.ts';
import { type AssetJson, imageUrlOf, storeImage } from '../../support/media.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let shown: string;
let hidden: AssetJson;
let key: string;

beforeAll(async () => {
  service = await startTestService({
    IMAGE_PRESETS: 'card?w=300&h=200&fit=cover; mirror?w=64&rotate=180&format=png',
  });
  const photo = await sharp({ create: { width: 1600, height: 1200, channels: 3, background: '#2a6f97' } })
    .png()
    .toBuffer();
  const [first, second] = await Promise.all([
    storeImage(service, photo, { visibility: 'public' }),
    storeImage(service, photo, {}),
  ]);
  [shown, hidden] = [await imageUrlOf(service, first), second];
  const mediary = createMediary({ baseUrl: service.url, serviceKey: asService['x-service-key'] });
  ({ key } = await mediary.images.getSigningKey());
});
afterAll(() => service.stop());

const reasonOf = async (answer: Response) =>
  ((await answer.json()) as { error: { details: { reason: string } | null } }).error.details?.reason;

async function sizeAt(url: string): Promise<string> {
  const answer = await fetch(url, { headers: { accept: 'image/webp' } });
  if (!answer.ok) return `${answer.status} ${await reasonOf(answer)}`;
  const { width, height, format } = await sharp(await answer.arrayBuffer()).metadata();
  return `${width}x${height} ${format}`;
}

describe('a signed URL', () => {
  test.each([
    [{ width: 601, height: 333, fit: 'cover', gravity: { x: 0.2, y: 0.75 } }, '601x333 webp'],
    [{ width: 250, dpr: 2, rotate: 90, format: 'jpeg' }, '500x667 jpeg'],
    [{ width: 300, height: 10, fit: 'fill', background: '#ffffff', format: 'png' }, '300x10 png'],
    [{ width: 5000, blur: 4, quality: 30 }, '1600x1200 webp'],
    [{}, '1600x1200 webp'],
  ] as const)('has the image with %j', async (edit, expected) => {
    const url = await signImageUrl(shown, edit, key);
    expect(await sizeAt(url)).toBe(expected);
    expect((await fetch(url, { redirect: 'manual' })).headers.get('cache-control')).toBe(
      'public, max-age=3600',
    );
  });

  test('replaces a size and a signature that the URL has', async () => {
    const small = await signImageUrl(`${shown}&w=64&h=64`, { width: 50 }, key);
    expect(await sizeAt(await signImageUrl(small, { width: 70, height: 70 }, key))).toBe('70x53 webp');
  });

  test('is refused when it is altered, moved to another image, or signed by another key', async () => {
    const url = await signImageUrl(shown, { width: 601 }, key);
    expect(await sizeAt(url.replace('w=601', 'w=602'))).toBe('401 bad_signature');
    const [, id = ''] = /playback\/([^/]+)/.exec(shown) ?? [];
    const other = await imageUrlOf(service, hidden);
    expect(await sizeAt(`${other.split('?')[0]}?${url.split('?')[1]}`)).toBe('401 bad_signature');
    expect(await sizeAt(await signImageUrl(shown, { width: 601 }, 'another key'))).toBe('401 bad_signature');
    expect(await sizeAt(`${service.url}/playback/${id}/image?w=600&rotate=90`)).toBe('401 missing');
  });

  test('signs the whole query: no parameter hides behind a second ? or a #', async () => {
    const { pathname, searchParams } = new URL(await signImageUrl(shown, { width: 601 }, key));
    const signature = `s=${searchParams.get('s')}`;
    const statusOf = async (search: string) =>
      (await sendRaw(service.url, request(`HEAD ${pathname}${search}`))).status;
    expect(await statusOf(`?w=601&${signature}`)).toBe(200);
    expect(await statusOf(`?w=601&${signature}&x=?&blur=20`)).toBe(401);
    expect(await statusOf(`??w=601&${signature}&blur=20`)).toBe(401);
    expect(await statusOf(`#blur=20&${signature}&x=?w=601`)).toBe(401);
  });

  test('opens no private image, and keeps the token of one', async () => {
    const signed = await signImageUrl(await imageUrlOf(service, hidden), { width: 333 }, key);
    expect(await sizeAt(signed)).toBe('333x250 webp');
    const [path = '', query = ''] = signed.split('?');
    const [, token = ''] = /~([^/]+)\//.exec(path) ?? [];
    const plain = path.replace(/\/~[^/]+/, '');
    expect(await sizeAt(`${plain}?${query}`)).toBe('404 undefined');
    expect(await sizeAt(`${plain}?${query}&token=${token}`)).toBe('333x250 webp');
  });

  test('of nothing is not written', async () => {
    await expect(signImageUrl('https://example.com/picture.jpg', {}, key)).rejects.toThrow(
      'No URL of an image',
    );
  });
});

test('a preset needs no signature', async () => {
  expect(await sizeAt(`${shown}&preset=card`)).toBe('300x200 webp');
  expect(await sizeAt(`${shown}&preset=card&dpr=2&format=jpeg`)).toBe('600x400 jpeg');
  expect(await sizeAt(`${shown}&preset=mirror`)).toBe('64x48 png');
  expect(await sizeAt(`${shown}&preset=poster`)).toBe('400 unsupported_value');
  expect(await sizeAt(`${shown}&preset=card&w=64`)).toBe('400 not_with_preset');
});

test('only the service key gets the signing key', async () => {
  const get = (headers: Record<string, string>) => call(service, 'GET /image-signing-key', { headers });
  expect((await get(asService)).body.data).toEqual({ key, algorithm: 'HMAC-SHA256' });
  expect([(await get(asUser('ann'))).status, (await get({})).status]).toEqual([403, 401]);
});
