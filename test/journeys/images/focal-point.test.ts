// Crops keep the focal point of their image, and viewers see another one after a change.
import { createMediary } from '@mediary/client';
import { signImageUrl } from '@mediary/client/server';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AssetJson, imageUrlOf, IMAGE, openUpload, readAsset, storeImage } from '../../support/media.ts';
import { timelineOf } from '../../support/providers/hosted.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';

/** Red in the upper left corner, green in the middle, blue at the lower right; grey elsewhere. */
const MARKS = { red: { x: 0.05, y: 0.1 }, green: { x: 0.5, y: 0.5 }, blue: { x: 0.95, y: 0.9 } } as const;
type Colour = keyof typeof MARKS;
const SIDE = 100;

let service: TestService;
let landscape: Buffer;
let asset: AssetJson;
let key: string;
beforeAll(async () => {
  service = await startTestService({
    IMAGE_PRESETS: 'tall?w=100&h=400&fit=cover&format=png; middle?w=100&h=400&fit=cover&gravity=center',
  });
  landscape = await drawMarks(2000, 800);
  const mediary = createMediary({ baseUrl: service.url, serviceKey: asService['x-service-key'] });
  ({ key } = await mediary.images.getSigningKey());
});
afterAll(() => service.stop());
beforeEach(async () => {
  asset = await storeImage(service, landscape, { visibility: 'public' });
});

async function drawMarks(width: number, height: number): Promise<Buffer> {
  const marks = Object.entries(MARKS).map(async ([background, { x, y }]) => ({
    input: await sharp({ create: { width: SIDE, height: SIDE, channels: 3, background } })
      .png()
      .toBuffer(),
    left: Math.round(x * width - SIDE / 2),
    top: Math.round(y * height - SIDE / 2),
  }));
  return sharp({ create: { width, height, channels: 3, background: '#808080' } })
    .composite(await Promise.all(marks))
    .png()
    .toBuffer();
}

const focus = (id: string, focal_point: unknown, user = 'ann') =>
  call<AssetJson>(service, `PATCH /media/${id}`, { headers: asUser(user), json: { focal_point } });

/** The marks that a picture contains. */
async function marksOf(url: string): Promise<Colour[]> {
  const answer = await fetch(url, { headers: { accept: 'image/webp' } });
  expect(answer.status).toBe(200);
  const { data } = await sharp(await answer.arrayBuffer())
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const counts = { red: 0, green: 0, blue: 0 };
  for (let at = 0; at < data.length; at += 3) {
    const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3);
    // CSS "green" is half as bright as the others.
    if (red > 180 && green < 90 && blue < 90) counts.red += 1;
    if (green > 95 && red < 60 && blue < 60) counts.green += 1;
    if (blue > 180 && red < 90 && green < 90) counts.blue += 1;
  }
  return (Object.keys(counts) as Colour[]).filter((colour) => counts[colour] > 20);
}

describe('a crop contains the focal point', () => {
  const shapes: readonly [name: string, toUrl: (image: string) => Promise<string> | string][] = [
    ['of the fixed sizes', (image) => `${image}&w=256&h=256&fit=cover`],
    ['of a preset', (image) => `${image}&preset=tall`],
    ['of a signed URL', (image) => signImageUrl(image, { width: 90, height: 160, fit: 'cover' }, key)],
    [
      'of a rotated signed URL',
      (image) => signImageUrl(image, { width: 160, height: 90, fit: 'cover', rotate: 90 }, key),
    ],
  ];
  test.each(shapes)('%s', async (_, toUrl) => {
    expect(await marksOf(await toUrl(await imageUrlOf(service, asset)))).toEqual(['green']);
    for (const colour of ['red', 'blue'] as const) {
      await focus(asset.id, MARKS[colour]);
      expect(await marksOf(await toUrl(await imageUrlOf(service, asset)))).toEqual([colour]);
    }
    await focus(asset.id, null);
    expect(await marksOf(await toUrl(await imageUrlOf(service, asset)))).toEqual(['green']);
  });

  test('of an upright picture, whatever its orientation says', async () => {
    const turned = await sharp(landscape).withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer();
    const photo = { filename: 'turned.jpg', mime_type: 'image/jpeg', visibility: 'public' };
    const upright = await storeImage(service, turned, photo);
    expect(upright).toMatchObject({ width: 800, height: 2000 });
    // Clockwise by 90°: the upper left corner is now at the upper right.
    await focus(upright.id, { x: 0.9, y: 0.05 });
    expect(await marksOf(`${await imageUrlOf(service, upright)}&w=1200&h=630&fit=cover`)).toEqual(['red']);
  });

  test('unless gravity says what it keeps', async () => {
    await focus(asset.id, MARKS.red);
    const image = await imageUrlOf(service, asset);
    const crop = { width: 90, height: 160, fit: 'cover' } as const;
    expect(await marksOf(await signImageUrl(image, { ...crop, gravity: MARKS.blue }, key))).toEqual(['blue']);
    expect(await marksOf(await signImageUrl(image, { ...crop, gravity: 'center' }, key))).toEqual(['green']);
    expect(await marksOf(`${image}&preset=middle`)).toEqual(['green']);
    expect(await marksOf(`${image}&w=640`)).toEqual(['red', 'green', 'blue']);
  });
});

test('a change gives other URLs and other ETags, and the old crops go away', async () => {
  const crop = '&w=256&h=256&fit=cover&format=png';
  const seen = new Set<string>();
  const etags = new Set<string | null>();
  const moves = Array.from({ length: 12 }, (_, index) => ({ x: index / 20, y: 0.25 }));
  for (const point of moves) {
    await focus(asset.id, point);
    const url = `${await imageUrlOf(service, asset)}${crop}`;
    const answer = await fetch(url);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=3600');
    await answer.body?.cancel();
    seen.add(url);
    etags.add(answer.headers.get('etag'));
  }
  expect([seen.size, etags.size]).toEqual([moves.length, moves.length]);
  const focal = async () =>
    (await filesNaming(service.dataDir, `variants/${asset.id}/`)).filter((file) => file.includes('-focal'));
  expect(await focal()).toEqual([expect.stringContaining('256x256-cover-focal550x250.png')]);

  const [first = ''] = seen;
  const stale = await fetch(first, { headers: { 'if-none-match': [...etags][0] ?? '' } });
  expect([stale.status, stale.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
  await stale.body?.cancel();

  await focus(asset.id, null);
  await marksOf(`${await imageUrlOf(service, asset)}${crop}`);
  expect(await focal()).toEqual([]);
});

describe('the member focal_point', () => {
  test('is null until a caller sets it, and rounded to thousandths', async () => {
    expect(asset['focal_point']).toBeNull();
    const { body } = await focus(asset.id, { x: 0.123_456, y: 1, z: 'dropped' });
    expect(body.data).toMatchObject({ focal_point: { x: 0.123, y: 1 }, version: 2 });
    expect((await readAsset(service, 'ann', asset.id))['focal_point']).toEqual({ x: 0.123, y: 1 });
    await call(service, `PATCH /media/${asset.id}`, { headers: asUser('ann'), json: { title: 'Red' } });
    expect((await readAsset(service, 'ann', asset.id))['focal_point']).toEqual({ x: 0.123, y: 1 });
    expect((await focus(asset.id, null)).body.data['focal_point']).toBeNull();
    const updates = (await timelineOf(service, asset.id)).filter(({ type }) => type === 'asset.updated');
    expect(updates.map(({ details }) => details['fields'])).toEqual([
      ['focal_point'],
      ['title'],
      ['focal_point'],
    ]);
  });

  test('can be set at creation', async () => {
    const created = await storeImage(service, landscape, {
      visibility: 'public',
      focal_point: MARKS.blue,
    });
    expect(created['focal_point']).toEqual(MARKS.blue);
    expect(await marksOf(`${await imageUrlOf(service, created)}&preset=tall`)).toEqual(['blue']);
  });

  test.each([
    [{ x: 1.01, y: 0 }],
    [{ x: -0.1, y: 0 }],
    [{ x: 0.5 }],
    [{ x: '0.5', y: 0.5 }],
    ['0.5,0.5'],
    [[0.5, 0.5]],
    [{}],
  ])('is refused as %j', async (point) => {
    const { status, body } = await focus(asset.id, point);
    expect([status, body.error?.error_code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.error?.details?.['field']).toMatch(/^focal_point/);
    expect((await readAsset(service, 'ann', asset.id))['version']).toBe(1);
  });

  test('belongs to the owner', async () => {
    expect((await focus(asset.id, MARKS.red, 'bob')).status).toBe(403);
    expect((await readAsset(service, 'ann', asset.id))['focal_point']).toBeNull();
  });

  test('is for images only', async () => {
    const refusal = {
      status: 400,
      body: {
        message: 'focal_point can be set only for images, and this asset is a video',
        error: { details: { field: 'focal_point' } },
      },
    };
    const { asset_id: video } = await openUpload(service, 'ann');
    expect(await focus(video, MARKS.red)).toMatchObject(refusal);
    expect((await focus(video, null)).status).toBe(200);
    const json = { ...IMAGE, filename: 'a.mp4', content_type: 'video', mime_type: 'video/mp4' };
    expect(
      await call(service, 'POST /media/upload-url', {
        headers: asUser('ann'),
        json: { ...json, focal_point: MARKS.red },
      }),
    ).toMatchObject(refusal);
  });
});
