// Benchmark of images: from `complete` to `ready`, new variants and stored variants.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import sharp, { type Sharp } from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import { openDiskObjectStore } from '../service/src/storage/disk-object-store.ts';
import { originalKey, variantKey } from '../service/src/storage/object-key.ts';
import { type Ground, openUploads, startService } from './ground.ts';
import { request, run } from './load.ts';
import { type Effort, measurePair, median } from './pair.ts';
import type { Server } from './processes.ts';
import { ofPair, ofRates, type Row } from './rows.ts';

const PICTURE = { width: 1200, height: 800 };
const IN_A_ROUND = 100;
const ROUNDS = 5;
const AT_ONCE = 4;

/** A service with workers and its own images; `originals` are the same bytes for the reference. */
type Gallery = {
  readonly ground: Ground;
  readonly service: Server;
  readonly ids: readonly string[];
  readonly originals: readonly string[];
  readonly made: string;
  readonly db: pg.Client;
};

export async function pictures(ground: Ground, effort: Effort): Promise<Row[]> {
  // As in the service: every file is different, so caching is disabled.
  sharp.cache(false);
  const gallery = await openGallery(ground);
  const size = `${PICTURE.width}×${PICTURE.height}`;
  const rows = [
    ofRates(
      {
        what: `image of ${size}, from complete to ready`,
        against: 'bare sharp making the same file and placeholder',
        goal: '≥ 0.7',
      },
      await untilReady(gallery),
    ),
    ofRates(
      {
        what: `new size of an image of ${size}, WebP, ${AT_ONCE} at once`,
        against: 'bare sharp making the same file',
        goal: '≥ 0.8',
      },
      await newSizes(gallery),
    ),
    ofPair(
      {
        what: 'size that is there, with token, 32 connections',
        against: 'bare Fastify streaming the same file',
        goal: '≥ 0.8',
      },
      await knownSizes(gallery, effort),
    ),
  ];
  await gallery.db.end();
  await gallery.service.stop();
  return rows;
}

async function openGallery(ground: Ground): Promise<Gallery> {
  const service = await startService(ground.folder, ground.databaseUrl, { MEDIARY_ROLE: 'all' });
  const store = await openDiskObjectStore(join(ground.folder, 'objects'));
  const bytes = await sharp({
    create: {
      ...PICTURE,
      channels: 3,
      background: 'teal',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .blur(3)
    .jpeg({ quality: 88 })
    .toBuffer();
  const wishes = { filename: 'picture.jpg', content_type: 'image', mime_type: 'image/jpeg' };
  const opened = (await openUploads(service, ground.token, { count: IN_A_ROUND * ROUNDS, wishes })).slice(
    0,
    IN_A_ROUND * ROUNDS,
  );
  const puts = opened.map(({ path }) => request(`PUT ${path}`, { 'content-type': 'image/jpeg' }, bytes));
  await run({ port: service.port, connections: AT_ONCE, seconds: 600, next: (n) => puts[n] });
  const made = join(ground.folder, 'bare-sharp');
  await mkdir(made);
  const db = new pg.Client({ connectionString: ground.databaseUrl });
  await db.connect();
  const ids = opened.map(({ id }) => id);
  const { rows } = await db.query<Parameters<typeof originalKey>[0]>(
    'select id, original_upload from assets where id = any($1::uuid[]) order by array_position($1::uuid[], id)',
    [ids],
  );
  return {
    ground,
    service,
    made,
    db,
    ids,
    originals: rows.map((row) => store.localFile?.(originalKey(row)) as string),
  };
}

async function untilReady({ ground: { token }, service, ids, originals, made, db }: Gallery) {
  return compare(
    async (from) => {
      const batch = ids.slice(from, from + IN_A_ROUND);
      const completions = batch.map((id) =>
        request(`POST /api/v1/media/${id}/complete`, { authorization: `Bearer ${token}` }),
      );
      await run({ port: service.port, connections: AT_ONCE, seconds: 600, next: (n) => completions[n] });
      while ((await countReady(db, batch)) < batch.length)
        await new Promise((resolve) => {
          setTimeout(resolve, 10);
        });
    },
    (from) =>
      draw(originals.slice(from, from + IN_A_ROUND), async (picture, n) => {
        await picture
          .clone()
          .resize(640, 640, { fit: 'inside' })
          .jpeg({ quality: 80, progressive: true })
          .toFile(join(made, `${from + n}.jpg`));
        const { data, info } = await picture
          .resize(100, 100, { fit: 'inside' })
          .ensureAlpha()
          .raw()
          .toBuffer({ resolveWithObject: true });
        rgbaToThumbHash(info.width, info.height, data);
      }),
  );
}

const countReady = async (db: pg.Client, ids: readonly string[]): Promise<number> =>
  (
    await db.query(
      "select count(*)::int as ready from assets where id = any($1) and stream_status = 'ready'",
      [ids],
    )
  ).rows[0].ready;

async function newSizes({ ground: { token }, service, ids, originals, made }: Gallery) {
  const bases = await Promise.all(ids.map((id) => imagePath(service, token, id)));
  return compare(
    async (from) => {
      const asks = bases
        .slice(from, from + IN_A_ROUND)
        .map((base) => request(`GET ${base}&w=480&format=webp`));
      await run({ port: service.port, connections: AT_ONCE, seconds: 600, next: (n) => asks[n] });
    },
    (from) =>
      draw(originals.slice(from, from + IN_A_ROUND), (picture, n) =>
        picture
          .resize(480, 320)
          .webp({ quality: 78, effort: 3 })
          .toFile(join(made, `${from + n}.webp`)),
      ),
  );
}

async function knownSizes({ ground, service, ids }: Gallery, effort: Effort) {
  const store = await openDiskObjectStore(join(ground.folder, 'objects'));
  const bases = await Promise.all(ids.map((id) => imagePath(service, ground.token, id)));
  const ours = bases.map((base) => request(`GET ${base}&w=480&format=webp`));
  const limit = ids.map((id) => request(`GET /files${store.localFile?.(variantKey(id, '480x320.webp'))}`));
  return measurePair({
    ...effort,
    connections: 32,
    ours: { server: service, next: (n) => ours[n % ours.length] as Buffer },
    limit: { server: ground.bare, next: (n) => limit[n % limit.length] as Buffer },
  });
}

async function imagePath({ port }: Server, token: string, id: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/media/${id}/playback`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { pathname, search } = new URL(((await answer.json()) as { data: { image: string } }).data.image);
  return `${pathname}${search}`;
}

/** Both sides alternate with images that are new to them; the first round is a warm-up. */
async function compare(
  ours: (from: number) => Promise<unknown>,
  limit: (from: number) => Promise<unknown>,
): Promise<{ ratio: number; ours: number; limit: number }> {
  const rounds: { ours: number; limit: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = round * IN_A_ROUND;
    rounds.push({ limit: await perSecond(() => limit(from)), ours: await perSecond(() => ours(from)) });
  }
  const warm = rounds.slice(1);
  return {
    ratio: median(warm.map((round) => round.ours / round.limit)),
    ours: median(warm.map((round) => round.ours)),
    limit: median(warm.map((round) => round.limit)),
  };
}

async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return IN_A_ROUND / ((performance.now() - begun) / 1000);
}

/** The same concurrency as in the service. */
async function draw(
  files: readonly string[],
  make: (picture: Sharp, n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < files.length; n = next++) await make(sharp(files[n]).autoOrient(), n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
