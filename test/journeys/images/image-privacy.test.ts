// Served images contain no camera metadata in any format, and polyglot files are served as images only.
import sharp from 'sharp';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeHeic } from '../../support/clips/heic.ts';
import { type AssetJson, IMAGE, offer, settled } from '../../support/media.ts';
import { bombPng, chunk, phonePhoto, SECRETS_OF_A_PHOTO } from '../../support/clips/pictures.ts';
import { rows } from '../../support/service/traces.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const FORMS = [
  'thumb.jpg',
  'image?w=320&format=jpeg',
  'image?w=320&format=webp',
  'image?w=320&format=avif',
  'image?w=320&format=png',
];

const store = async (bytes: Uint8Array, fields: object): Promise<AssetJson> =>
  settled(
    service,
    'ann',
    (await offer(service, 'ann', { bytes, fields: { ...IMAGE, visibility: 'public', ...fields } })).id,
  );

async function served({ id }: AssetJson, path: string): Promise<Buffer> {
  const answer = await fetch(`${service.url}/playback/${id}/${path}`);
  expect(answer.status, path).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

test('the asset tells the camera and the time, and the place only where the operator wants it', async () => {
  const photo = await phonePhoto({ width: 400, height: 200, orientation: 6 });
  const told = { camera: 'Canary Camera 9000', taken_at: '2026-07-01T12:30:00+02:00', orientation: 6 };
  const { media } = await store(photo, { mime_type: 'image/jpeg' });
  expect(media).toEqual({ container: 'jpeg', video: null, audio: [], photo: { ...told, location: null } });
  expect(await rows(service.dataDir, `select 1 from assets where media::text like '%51.5%'`)).toEqual([]);
  expect((await store(await bombPng(8, 8), {}))['media']).toMatchObject({ container: 'png', photo: null });

  const open = await startTestService({ PHOTO_LOCATION: 'on' });
  onTestFinished(() => open.stop());
  const { id } = await offer(open, 'ann', { bytes: photo, fields: { ...IMAGE, mime_type: 'image/jpeg' } });
  expect((await settled(open, 'ann', id))['media']).toMatchObject({
    photo: { ...told, location: { latitude: 51.5, longitude: -0.125, altitude_m: null } },
  });
});

test.each([1, 3, 6, 8])(
  'variants are upright and have no location, camera, name or profile: orientation %d',
  async (orientation) => {
    const photo = await phonePhoto({ width: 400, height: 200, orientation });
    for (const secret of SECRETS_OF_A_PHOTO.slice(0, 2)) expect(photo.includes(secret)).toBe(true);
    expect((await sharp(photo).metadata()).orientation).toBe(orientation);
    const asset = await store(photo, { mime_type: 'image/jpeg' });
    expect([asset['width'], asset['height']]).toEqual([400, 200]);
    for (const path of FORMS) {
      const bytes = await served(asset, path);
      const {
        exif,
        icc,
        xmp,
        iptc,
        orientation: left,
        width = 0,
        height = 0,
      } = await sharp(bytes).metadata();
      expect([exif, icc, xmp, iptc, left], path).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
      expect(Math.round(width / height), path).toBe(2);
      for (const secret of SECRETS_OF_A_PHOTO) expect(bytes.includes(secret), path).toBe(false);
      const [red = 0, , blue = 0] = await sharp(bytes)
        .extract({ left: Math.floor(width / 4), top: Math.floor(height / 2), width: 1, height: 1 })
        .raw()
        .toBuffer();
      expect([red > 180, blue < 60], path).toEqual([true, true]);
    }
  },
  60_000,
);

test('only the owner can download the original with its metadata', async () => {
  const photo = await phonePhoto({ width: 64, height: 32, orientation: 1 });
  const asset = await store(photo, { mime_type: 'image/jpeg' });
  const { body } = await call<{ url: string }>(service, `GET /media/${asset.id}/download-url`, {
    headers: asUser('ann'),
  });
  const answer = await fetch(body.data.url);
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment;/);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(photo);
  expect(
    (await call(service, `GET /media/${asset.id}/download-url`, { headers: asUser('eve') })).status,
  ).toBe(403);
  expect((await call(service, `GET /playback/${asset.id}/original`)).status).toBe(404);
});

test('a file that is both image and HTML is served as an image only', async () => {
  const script = '<html><script>alert(1)</script>';
  const both = Buffer.concat([
    bombPng(64, 64, [chunk('tEXt', Buffer.from(`Comment\0${script}`))]),
    Buffer.from(script),
  ]);
  const asset = await store(both, {});
  expect(asset.stream_status).toBe('ready');
  for (const path of FORMS) {
    const answer = await fetch(`${service.url}/playback/${asset.id}/${path}`);
    expect(answer.headers.get('content-type'), path).toMatch(/^image\/(?:jpeg|webp|avif|png)$/);
    expect([
      answer.headers.get('x-content-type-options'),
      answer.headers.get('content-security-policy'),
    ]).toEqual(['nosniff', "sandbox; default-src 'none'"]);
    expect(Buffer.from(await answer.arrayBuffer()).includes('script'), path).toBe(false);
  }
});

test.each(['image/heic', 'image/heif'])(
  'a photo of a phone has no metadata either: %s',
  async (mime) => {
    const asset = await store(await makeHeic({ width: 512, height: 256, tiles: 2, turned: 1 }), {
      mime_type: mime,
      filename: 'IMG_0001.HEIC',
    });
    expect(asset).toMatchObject({ stream_status: 'ready', width: 256, height: 512 });
    for (const path of FORMS)
      expect((await sharp(await served(asset, path)).metadata()).height, path).toBe(512);
  },
  60_000,
);
