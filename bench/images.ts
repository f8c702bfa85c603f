// Benchmark of images: from `complete` to `ready`, new variants and stored variants.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import sharp, { type Sharp } from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import { openDiskObjectStore } from '../service/src/storage/disk-object-store.ts';
import { originalKey, variantKey } from '../service/src/storage/object-key.ts';
import { type Environment, openUploads, startService } from './environment.ts';
import { request, run } from './load.ts';
import { type Effort, measurePair, median } from './pair.ts';
import type { Server } from './processes.ts';
import { rowOfPair, rowOfRates, type Row } from './rows.ts';

const SIZE = { width: 1200, height: 800 };
/** In short rounds, the first and last images weigh more than in operation. */
const IMAGES_PER_ROUND = 200;
const ROUNDS = 5;
const CONCURRENCY = 4;

/**
 * A service with workers, and its images. The reference reads the files of `originals` and writes to
 * `outputFolder`.
 */
type ImageSet = {
  readonly environment: Environment;
  readonly service: Server;
  readonly ids: readonly string[];
  readonly originals: readonly string[];
  readonly outputFolder: string;
  readonly db: pg.Client;
};

export async function images(environment: Environment, effort: Effort): Promise<Row[]> {
  // The service disables the cache too, because every file is different.
  sharp.cache(false);
  const imageSet = await openImageSet(environment);
  const size = `${SIZE.width}×${SIZE.height}`;
  const rows = [
    rowOfRates(
      {
        what: `image of ${size}, from complete to ready`,
        against: 'sharp alone: the same thumbnail and placeholder',
        goal: '≥ 0.7',
      },
      await completeImages(imageSet),
    ),
    rowOfRates(
      {
        what: `new WebP variant of an image of ${size}, ${CONCURRENCY} concurrent requests`,
        against: 'sharp alone: the same file',
        goal: '≥ 0.8',
      },
      await renderVariants(imageSet),
    ),
    rowOfPair(
      {
        what: 'GET of a stored variant, with token, 32 connections',
        against: 'bare Fastify streaming the same file',
        goal: '≥ 0.8',
      },
      await getStoredVariants(imageSet, effort),
    ),
  ];
  await imageSet.db.end();
  await imageSet.service.stop();
  return rows;
}

export const makeImage = (): Promise<Buffer> =>
  sharp({
    create: {
      ...SIZE,
      channels: 3,
      background: 'teal',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .blur(3)
    .jpeg({ quality: 88 })
    .toBuffer();

async function openImageSet(environment: Environment): Promise<ImageSet> {
  const service = await startService(environment.folder, environment.databaseUrl, { MEDIARY_ROLE: 'all' });
  const store = await openDiskObjectStore(join(environment.folder, 'objects'));
  const bytes = await makeImage();
  const upload = { filename: 'picture.jpg', content_type: 'image', mime_type: 'image/jpeg' };
  const opened = (
    await openUploads(service, environment.token, { count: IMAGES_PER_ROUND * ROUNDS, upload })
  ).slice(0, IMAGES_PER_ROUND * ROUNDS);
  const puts = opened.map(({ path }) => request(`PUT ${path}`, { 'content-type': 'image/jpeg' }, bytes));
  await run({ port: service.port, connections: CONCURRENCY, seconds: 600, next: (n) => puts[n] });
  const outputFolder = join(environment.folder, 'bare-sharp');
  await mkdir(outputFolder);
  const db = new pg.Client({ connectionString: environment.databaseUrl });
  await db.connect();
  const ids = opened.map(({ id }) => id);
  const { rows } = await db.query<Parameters<typeof originalKey>[0]>(
    'select id, original_upload from assets where id = any($1::uuid[]) ' +
      'order by array_position($1::uuid[], id)',
    [ids],
  );
  return {
    environment,
    service,
    outputFolder,
    db,
    ids,
    originals: rows.map((row) => store.localFile?.(originalKey(row)) as string),
  };
}

async function completeImages({
  environment: { token },
  service,
  ids,
  originals,
  outputFolder,
  db,
}: ImageSet) {
  return compare(
    async (from) => {
      const batch = ids.slice(from, from + IMAGES_PER_ROUND);
      const completions = batch.map((id) =>
        request(`POST /api/v1/media/${id}/complete`, { authorization: `Bearer ${token}` }),
      );
      await run({ port: service.port, connections: CONCURRENCY, seconds: 600, next: (n) => completions[n] });
      await waitUntilReady(db, batch);
    },
    (from) =>
      runSharp(originals.slice(from, from + IMAGES_PER_ROUND), async (image, n) => {
        await image
          .clone()
          .resize(640, 640, { fit: 'inside' })
          .jpeg({ quality: 80, progressive: true })
          .toFile(join(outputFolder, `${from + n}.jpg`));
        const { data, info } = await image
          .resize(100, 100, { fit: 'inside' })
          .ensureAlpha()
          .raw()
          .toBuffer({ resolveWithObject: true });
        rgbaToThumbHash(info.width, info.height, data);
      }),
  );
}

/** A poll takes a millisecond of the processors that the service needs. */
const POLL_MS = 25;

export async function waitUntilReady(db: pg.Client, ids: readonly string[]): Promise<void> {
  while ((await countReady(db, ids)) < ids.length)
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
}

const countReady = async (db: pg.Client, ids: readonly string[]): Promise<number> =>
  (
    await db.query({
      name: 'count ready',
      text: "select count(*)::int as ready from assets where id = any($1) and stream_status = 'ready'",
      values: [ids],
    })
  ).rows[0].ready;

async function renderVariants({ environment: { token }, service, ids, originals, outputFolder }: ImageSet) {
  const bases = await Promise.all(ids.map((id) => imagePath(service, token, id)));
  return compare(
    async (from) => {
      const requests = bases
        .slice(from, from + IMAGES_PER_ROUND)
        .map((base) => request(`GET ${base}&w=480&format=webp`));
      await run({ port: service.port, connections: CONCURRENCY, seconds: 600, next: (n) => requests[n] });
    },
    (from) =>
      runSharp(originals.slice(from, from + IMAGES_PER_ROUND), (image, n) =>
        image
          .resize(480, 320)
          .webp({ quality: 78, effort: 3 })
          .toFile(join(outputFolder, `${from + n}.webp`)),
      ),
  );
}

async function getStoredVariants({ environment, service, ids }: ImageSet, effort: Effort) {
  const store = await openDiskObjectStore(join(environment.folder, 'objects'));
  const bases = await Promise.all(ids.map((id) => imagePath(service, environment.token, id)));
  const ours = bases.map((base) => request(`GET ${base}&w=480&format=webp`));
  const reference = ids.map((id) =>
    request(`GET /files${store.localFile?.(variantKey(id, '480x320.webp'))}`),
  );
  return measurePair({
    ...effort,
    connections: 32,
    ours: { server: service, next: (n) => ours[n % ours.length] as Buffer },
    reference: { server: environment.bare, next: (n) => reference[n % reference.length] as Buffer },
  });
}

async function imagePath({ port }: Server, token: string, id: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/media/${id}/playback`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { pathname, search } = new URL(((await response.json()) as { data: { image: string } }).data.image);
  return `${pathname}${search}`;
}

/** Both sides alternate, each round with new images. The first round is a warm-up. */
async function compare(
  ours: (from: number) => Promise<unknown>,
  reference: (from: number) => Promise<unknown>,
): Promise<{ ratio: number; ours: number; reference: number }> {
  const rounds: { ours: number; reference: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = round * IMAGES_PER_ROUND;
    rounds.push({
      reference: await perSecond(() => reference(from)),
      ours: await perSecond(() => ours(from)),
    });
  }
  const warm = rounds.slice(1);
  return {
    ratio: median(warm.map((round) => round.ours / round.reference)),
    ours: median(warm.map((round) => round.ours)),
    reference: median(warm.map((round) => round.reference)),
  };
}

async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return IMAGES_PER_ROUND / ((performance.now() - start) / 1000);
}

/** The same concurrency as in the service. */
async function runSharp(
  files: readonly string[],
  work: (image: Sharp, n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < files.length; n = next++) await work(sharp(files[n]).autoOrient(), n);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
