// Any size can be requested: the service offers a fixed set, redirects to the next larger one, and lists the
// set where nothing fits.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AssetJson, imageUrlOf, storeImage } from '../../support/media.ts';
import { call, startTestService, type TestService } from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';

let service: TestService;
let shown: AssetJson;
let hidden: AssetJson;

beforeAll(async () => {
  service = await startTestService();
  const photo = await sharp({ create: { width: 1600, height: 1200, channels: 3, background: '#2a6f97' } })
    .png()
    .toBuffer();
  [shown, hidden] = await Promise.all([
    storeImage(service, photo, { visibility: 'public' }),
    storeImage(service, photo, {}),
  ]);
});
afterAll(() => service.stop());

const imageUrl = (query: string) => `${service.url}/playback/${shown.id}/image?${query}`;
const get = (url: string) => fetch(url, { redirect: 'manual' });

/** The default widths of its image component. */
const NEXT_JS = [16, 32, 48, 64, 96, 128, 256, 384, 640, 750, 828, 1080, 1200, 1920, 2048, 3840];

test('the widths of Next.js get no redirect', async () => {
  for (const width of NEXT_JS) {
    const answer = await get(imageUrl(`w=${width}&format=jpeg`));
    expect([width, answer.status]).toEqual([width, 200]);
    expect((await sharp(await answer.arrayBuffer()).metadata()).width).toBe(Math.min(width, 1600));
  }
});

describe('another size redirects to the next larger one', () => {
  test.each([
    ['w=100', 'w=128'],
    ['h=100', 'h=128'],
    ['w=1&h=700&fit=inside&format=webp', 'w=16&h=750&fit=inside&format=webp'],
    ['v=1&w=300&h=300&fit=cover', 'w=320&h=320&fit=cover&v=1'],
    ['w=600&h=315&fit=cover', 'w=1200&h=630&fit=cover'],
    ['w=100&utm_source=mail', 'w=128'],
  ])('%s → %s', async (query, rounded) => {
    const answer = await get(imageUrl(query));
    expect([answer.status, new URL(answer.headers.get('location') ?? '', answer.url).href]).toEqual([
      302,
      imageUrl(rounded),
    ]);
    expect(answer.headers.get('cache-control')).toMatch(/^public, max-age=(?:300|3600)$/);
    expect((await fetch(imageUrl(query))).status).toBe(200);
  });

  test('the redirect keeps the token of a private image', async () => {
    const answer = await get(`${await imageUrlOf(service, hidden)}&w=100`);
    const target = new URL(answer.headers.get('location') ?? '', answer.url);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'private, max-age=300']);
    expect(target.pathname).toMatch(/\/~[^/]+\/image$/);
    expect((await get(target.href)).status).toBe(200);
  });

  test('the redirect does not reveal a private image', async () => {
    expect((await get(`${service.url}/playback/${hidden.id}/image?w=100`)).status).toBe(404);
  });
});

describe('an unsupported size is rejected with the list of sizes', () => {
  test.each(['w=3841', 'h=100000'])('%s', async (query) => {
    const { status, body } = await call(service, `GET ${imageUrl(query)}`);
    expect([status, body.error.error_code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.message).toContain(query.replace('=', ' '));
    expect(body.error.details).toMatchObject({
      field: query.charAt(0),
      reason: 'unsupported_value',
      limit: 3840,
      allowed: expect.arrayContaining([16, 640, 3840]),
    });
  });

  test.each(['w=640&h=480&fit=cover', 'w=1200&h=631&fit=contain'])('%s', async (query) => {
    const { status, body } = await call(service, `GET ${imageUrl(query)}`);
    expect([status, body.error.details]).toEqual([
      400,
      expect.objectContaining({ field: 'h', reason: 'unsupported_value', allowed: ['1:1', '1200x630'] }),
    ]);
  });
});

test('the crop for link previews has exactly the requested size', async () => {
  const answer = await get(imageUrl('w=1200&h=630&fit=cover'));
  const { width, height } = await sharp(await answer.arrayBuffer()).metadata();
  expect([answer.status, width, height]).toEqual([200, 1200, 630]);
});

test('many different requests store a few variants', async () => {
  for (let width = 1; width <= 1000; width += 4) {
    const answer = await fetch(imageUrl(`w=${width}&h=${1001 - width}&format=jpeg`));
    expect(answer.status).toBe(200);
    await answer.body?.cancel();
  }
  const stored = await filesNaming(service.dataDir, `variants/${shown.id}/`);
  const inside = stored.filter((path) => /\/\d+x\d+\.jpg$/.test(path));
  expect(inside.length).toBeGreaterThan(5);
  expect(inside.length).toBeLessThanOrEqual(58);
});
