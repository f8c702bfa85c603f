// Variants of one image use limited space: above the limit viewers get a stored variant, and other images are
// unaffected.
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AssetJson, IMAGE, offer, settled } from '../../support/media.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';

const MAX_BYTES = 300_000;
const SIDE = 640;

let service: TestService;
let noisy: AssetJson;
let other: AssetJson;

const store = async (): Promise<AssetJson> => {
  const raw = { width: SIDE, height: SIDE, channels: 3 } as const;
  const bytes = await sharp(randomBytes(SIDE * SIDE * 3), { raw })
    .png()
    .toBuffer();
  const fields = { ...IMAGE, visibility: 'public' };
  return settled(service, 'ann', (await offer(service, 'ann', { bytes, fields })).id);
};

beforeAll(async () => {
  service = await startTestService({ MAX_VARIANT_BYTES: String(MAX_BYTES) });
  [noisy, other] = await Promise.all([store(), store()]);
});
afterAll(() => service.stop());

const get = ({ id }: AssetJson, query: string) => fetch(`${service.url}/playback/${id}/image?${query}`);

async function storedBytes({ id }: AssetJson): Promise<number> {
  const paths = (await filesNaming(service.dataDir, `variants/${id}/`)).filter(
    (path) => !path.endsWith('/thumb.jpg'),
  );
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test('every request gets an image, and the limit of variants holds', async () => {
  const substitutes = new Set<string | null>();
  for (const width of [64, 128, 256, 320, 384, 480, 512, 640])
    for (const query of [`w=${width}&format=png`, `w=${width}&h=${width}&fit=cover&format=png`]) {
      const answer = await get(noisy, query);
      expect([query, answer.status]).toEqual([query, 200]);
      expect((await sharp(await answer.arrayBuffer()).metadata()).width).toBeGreaterThan(0);
      substitutes.add(answer.headers.get('x-image-substitute'));
    }
  expect(substitutes).toEqual(new Set([null, 'storage_limit']));
  expect(await storedBytes(noisy)).toBeLessThanOrEqual(MAX_BYTES + 10_000);
});

test('a substitute is cached for a minute, and its header is readable across origins', async () => {
  const answer = await get(noisy, 'w=640&format=png');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=60');
  expect(answer.headers.get('access-control-expose-headers')).toContain('X-Image-Substitute');
  await answer.body?.cancel();
});

test('other images get their own variants', async () => {
  const answer = await get(other, 'w=256&format=png');
  expect([answer.status, answer.headers.get('x-image-substitute')]).toEqual([200, null]);
  expect((await sharp(await answer.arrayBuffer()).metadata()).width).toBe(256);
});
