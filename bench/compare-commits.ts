// Compares this checkout with another one of the same repository in one run.
// `npm run bench:commits -- ../other-checkout [case …]`; the other checkout needs `npm ci`.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import sharp from 'sharp';
import { toSecret } from '../service/src/auth/secret.ts';
import { writeSample } from '../service/src/commands/sample.ts';
import { findFfmpeg } from '../service/src/encoding/ffmpeg/find-ffmpeg.ts';
import { signOnprem } from '../service/src/providers/onprem/onprem-signature.ts';
import { openDiskObjectStore } from '../service/src/storage/disk-object-store.ts';
import { renditionFolder, renditionKey } from '../service/src/storage/object-key.ts';
import { bearer, type Case, type Checkout, compare, openCheckout, token } from './checkouts.ts';
import { ONPREM_SECRET, openUploads } from './environment.ts';
import { request, run } from './load.ts';
import { type Row, table } from './rows.ts';

const json = { 'content-type': 'application/json' };
const FOLDER = renditionFolder(1, 1);
const IMAGES = 100;

const cycle = (items: readonly Buffer[]) => (n: number) => items[n % items.length];

const CASES: Readonly<Record<string, readonly Case[]>> = {
  get: [
    {
      what: 'GET one asset, bearer',
      connections: 64,
      requests: ({ ids }) => cycle(ids.map((id) => request(`GET /api/v1/media/${id}`, bearer))),
    },
  ],
  list: [
    {
      what: 'list of 50',
      connections: 32,
      requests: () => cycle([request('GET /api/v1/media?limit=50', bearer)]),
    },
  ],
  open: [{ what: 'upload-url', connections: 32, requests: () => cycle([uploadUrlRequest()]) }],
  webhook: [{ what: 'onprem webhook that changes state', connections: 32, requests: reports }],
  segments: [500, 20].flatMap((kilobytes) =>
    [16, 64].map((connections) => ({
      what: `segment of ${kilobytes} KB, ${connections} connections`,
      connections,
      requests: (checkout: Checkout) => segmentRequests(checkout, kilobytes),
    })),
  ),
  put: [{ what: 'PUT of 20 KB, 16 connections', connections: 16, requests: smallUploads }],
  images: [{ what: `${IMAGES} images, complete to ready`, rounds: 5, work: imagesReady }],
  encode: [{ what: '10 s of 1280×720, complete to ready', rounds: 3, work: videoReady }],
  start: [{ what: 'start to ready', rounds: 5, work: startUp }],
};

const uploadUrlRequest = (): Buffer =>
  request(
    'POST /api/v1/media/upload-url',
    { ...bearer, ...json },
    JSON.stringify({
      filename: 'clip.mp4',
      content_type: 'video',
      mime_type: 'video/mp4',
      size_bytes: 1000,
    }),
  );

async function smallUploads({ server }: Checkout): Promise<() => Buffer | undefined> {
  const opened = await openUploads(server, token, { count: 20_000 });
  const bytes = Buffer.alloc(20 * 1024, 'mediary');
  return () => {
    const upload = opened.pop();
    return upload && request(`PUT ${upload.path}`, { 'content-type': 'video/mp4' }, bytes);
  };
}

function reports({ ids }: Checkout): (n: number) => Buffer {
  const key = toSecret(ONPREM_SECRET);
  let count = 0;
  return () => {
    const k = count++;
    const body = JSON.stringify({
      asset_id: ids[k % 500],
      status: k % 2 ? 'ready' : 'processing',
      attempt: 2 + Math.floor(k / 500),
    });
    const signature = signOnprem(Buffer.from(body), key);
    return request('POST /api/v1/webhooks/stream/onprem', { ...json, 'x-onprem-signature': signature }, body);
  };
}

async function segmentRequests({ folder, databaseUrl, server, ids }: Checkout, kilobytes: number) {
  const id = ids.at(-1) as string;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const sql =
    "update assets set stream_status = 'ready', playback = $2, revision = revision + 1 where id = $1";
  await client.query(sql, [id, { kind: 'own', attempt: 1, folder: FOLDER }]);
  await client.end();
  const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/media/${id}/playback`, {
    headers: bearer,
  });
  const { data } = (await answer.json()) as { data: { hls: string } };
  const base = new URL('.', data.hls).pathname.slice(0, -1);
  const store = await openDiskObjectStore(join(folder, 'objects'));
  const names = Array.from({ length: 50 }, (_, n) => `v${kilobytes}-${n}.m4s`);
  for (const name of names) {
    const key = renditionKey(id, FOLDER, name);
    await store.put(key, once(randomBytes(kilobytes * 1000)), Number.MAX_SAFE_INTEGER).catch(ignoreExisting);
  }
  return cycle(names.map((name) => request(`GET ${base}/${FOLDER}/${name}`)));
}

function ignoreExisting(error: unknown): void {
  if (!String(error).includes('exist')) throw error;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function startUp(checkout: Checkout): Promise<number> {
  const begun = performance.now();
  const server = await checkout.start('api');
  const seconds = (performance.now() - begun) / 1000;
  await server.stop();
  return seconds;
}

async function imagesReady(checkout: Checkout): Promise<number> {
  const picture = await sharp({
    create: {
      width: 1200,
      height: 800,
      channels: 3,
      background: 'teal',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .blur(3)
    .jpeg({ quality: 88 })
    .toBuffer();
  return ready(checkout, IMAGES, { mime: 'image/jpeg', kind: 'image', bytes: picture });
}

let clip: Buffer | undefined;
async function videoReady(checkout: Checkout): Promise<number> {
  clip ??= await sampleClip(checkout.folder);
  return ready(checkout, 1, { mime: 'video/mp4', kind: 'video', bytes: clip });
}

async function sampleClip(folder: string): Promise<Buffer> {
  const engine = await findFfmpeg({ setting: process.env['FFMPEG_PATH'], searchPath: process.env['PATH'] });
  if ('missing' in engine) throw new Error(engine.missing);
  const file = join(folder, 'sample.mp4');
  await writeSample(engine, file);
  return readFile(file);
}

type Media = { readonly mime: string; readonly kind: string; readonly bytes: Buffer };

/** Seconds from the first `complete` until all assets are ready. */
async function ready(checkout: Checkout, count: number, { mime, kind, bytes }: Media): Promise<number> {
  const server = await checkout.start('all');
  const upload = { filename: 'file', content_type: kind, mime_type: mime };
  const opened = (await openUploads(server, token, { count, upload })).slice(0, count);
  const send = (requests: readonly Buffer[]) =>
    run({ port: server.port, connections: 4, seconds: 600, next: (n) => requests[n] });
  await send(opened.map(({ path }) => request(`PUT ${path}`, { 'content-type': mime }, bytes)));
  const client = new pg.Client({ connectionString: checkout.databaseUrl });
  await client.connect();
  const begun = performance.now();
  await send(opened.map(({ id }) => request(`POST /api/v1/media/${id}/complete`, bearer)));
  while ((await countReady(client, opened)) < count)
    await new Promise((resume) => {
      setTimeout(resume, 10);
    });
  const seconds = (performance.now() - begun) / 1000;
  await client.end();
  await server.stop();
  return seconds;
}

async function countReady(client: pg.Client, opened: readonly { readonly id: string }[]): Promise<number> {
  const sql = "select count(*)::int as ready from assets where id = any($1) and stream_status = 'ready'";
  const { rows } = await client.query<{ ready: number }>(sql, [opened.map(({ id }) => id)]);
  return rows[0]?.ready ?? 0;
}

const [other, ...names] = process.argv.slice(2);
if (!other) throw new Error('Usage: npm run bench:commits -- OTHER_CHECKOUT [CASE …]');
const unknown = names.find((name) => !(name in CASES));
if (unknown) throw new Error(`Unknown case "${unknown}". Cases: ${Object.keys(CASES).join(', ')}`);
const base = await openCheckout(resolve(other));
const here = await openCheckout(join(import.meta.dirname, '..'));
try {
  const rows: Row[] = [];
  for (const name of names.length > 0 ? names : Object.keys(CASES))
    for (const one of CASES[name] ?? []) rows.push(await compare([here, base], one));
  process.stdout.write(`${table(rows)}\n`);
} finally {
  await Promise.all([here.close(), base.close()]);
}
