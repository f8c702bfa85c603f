// Sixteen expensive variants of one image: other owners' uploads are processed and other images are served
// meanwhile.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AssetJson, IMAGE, offer, settled } from '../support/media.ts';
import { newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';

const SIDE = 2560;
const READY_WITHIN_MS = 5000;
/**
 * On a machine where other work makes everything late, an upload may take this many times as long as without
 * the attack.
 */
const SLOWDOWN = 5;
const HOSTILE_WIDTHS = [640, 768, 960, 1080, 1280, 1600, 1920, 2560];

let dataDir: string;
let service: ServiceProcess;
let hostile: AssetJson;
let harmless: AssetJson;

async function noise(side: number): Promise<Buffer> {
  const raw = { width: side, height: side, channels: 3 } as const;
  return sharp(randomBytes(side * side * 3), { raw })
    .jpeg({ quality: 80 })
    .toBuffer();
}

async function upload(user: string, bytes: Uint8Array): Promise<AssetJson> {
  const fields = { ...IMAGE, mime_type: 'image/jpeg', visibility: 'public' };
  return settled(service, user, (await offer(service, user, { bytes, fields })).id);
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const start = performance.now();
  return { result: await work(), ms: performance.now() - start };
}

beforeAll(async () => {
  dataDir = await newDatabaseDir();
  service = await startProcess({ DATA_DIR: dataDir });
  hostile = await upload('eve', await noise(SIDE));
  harmless = await upload('ann', await noise(640));
});

afterAll(async () => {
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

const get = ({ id }: AssetJson, query: string) => fetch(`${service.url}/playback/${id}/image?${query}`);

test('an upload is ready in time, and another image is served before the hostile ones', async () => {
  const small = await noise(640);
  const idle = await timed(() => upload('bob', small));

  let pending = 0;
  const attack = HOSTILE_WIDTHS.flatMap((width) => [
    `w=${width}&format=avif`,
    `w=${width}&h=${width}&fit=cover&format=avif`,
  ]).map(async (query) => {
    pending += 1;
    const answer = await get(hostile, query);
    const type = answer.headers.get('content-type');
    await answer.arrayBuffer();
    pending -= 1;
    return { status: answer.status, type, retryAfter: answer.headers.get('retry-after') };
  });
  expect(pending).toBe(16);

  const served = await get(harmless, 'w=320&format=webp').then(async (answer) => {
    await answer.arrayBuffer();
    return { status: answer.status, pending };
  });
  expect(served.status).toBe(200);
  expect(served.pending).toBeGreaterThan(4);

  const busy = await timed(() => upload('bob', small));
  expect(busy.result.stream_status).toBe('ready');
  expect(busy.ms).toBeLessThan(Math.max(READY_WITHIN_MS, SLOWDOWN * idle.ms));

  for (const { status, type, retryAfter } of await Promise.all(attack)) {
    if (status === 503) expect(retryAfter).toMatch(/^\d+$/);
    else expect([status, type]).toEqual([200, expect.stringMatching(/^image\/(?:avif|jpeg|webp)$/)]);
  }
});

test('the largest AVIF of noise is rendered in its full size', async () => {
  const large = await upload('ann', await noise(4000));
  const answer = await get(large, 'w=3840&format=avif');
  const { width = 0, height = 0 } = await sharp(await answer.arrayBuffer()).metadata();
  expect([answer.status, width * height > 11_000_000]).toEqual([200, true]);
});
