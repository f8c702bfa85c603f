// Compares this checkout with another one of the same repository: both services run at the same time, each on its own
// database, and take turns. `npm run bench:commits -- ../other-checkout [case …]`; the other checkout needs `npm ci`.
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import pg from 'pg';
import sharp from 'sharp';
import { toSecret } from '../service/src/auth/secret.ts';
import { makeSample } from '../service/src/commands/sample.ts';
import { findFfmpeg } from '../service/src/encoding/ffmpeg/find-ffmpeg.ts';
import { signOnprem } from '../service/src/providers/onprem/onprem-signature.ts';
import { openDiskObjectStore } from '../service/src/storage/disk-object-store.ts';
import { renditionFolder, renditionKey } from '../service/src/storage/object-key.ts';
import { urlOf } from '../test/support/postgres.ts';
import { ONPREM_SECRET, openUploads, SECRETS, tokenOf } from './ground.ts';
import { request, run } from './load.ts';
import { measurePair, median } from './pair.ts';
import { freePort, type Server, startProgram } from './processes.ts';
import { type Row, round, table } from './rows.ts';

const HERE = join(import.meta.dirname, '..');
const FOLDER = renditionFolder(1, 1);
const ASSETS = 2000;
const IMAGES = 100;

/** One checkout with its service, database and assets. */
type Checkout = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly server: Server;
  readonly ids: readonly string[];
  start(role: 'api' | 'all'): Promise<Server>;
  close(): Promise<void>;
};

const token = tokenOf('bench');
const bearer = { authorization: `Bearer ${token}` };
const json = { 'content-type': 'application/json' };

async function openCheckout(root: string): Promise<Checkout> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bench-'));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres(folder);
  const databaseUrl = urlOf(postgres);
  const start = async (role: 'api' | 'all') => {
    const port = await freePort();
    const environment = {
      ...SECRETS,
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder,
      MEDIARY_ROLE: role,
      PORT: String(port),
      LOG_LEVEL: 'warn',
    };
    const args = [join(root, 'service/start.js')];
    return startProgram({ command: process.execPath, args, environment }, port, '/readyz');
  };
  const server = await start('api');
  const ids = (await openUploads(server, token, { count: ASSETS })).map(({ id }) => id);
  return {
    folder,
    databaseUrl,
    server,
    ids,
    start,
    close: async () => {
      await server.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Requests = (
  checkout: Checkout,
) => Promise<(n: number) => Buffer | undefined> | ((n: number) => Buffer | undefined);

/** Both services under the same load, alternately. */
async function pair(what: string, [here, base]: Pair, connections: number, requests: Requests): Promise<Row> {
  const side = async (checkout: Checkout) => ({ server: checkout.server, next: await requests(checkout) });
  const result = await measurePair({
    rounds: 7,
    seconds: 2,
    connections,
    ours: await side(here),
    limit: await side(base),
  });
  const detail = `${Math.round(result.ours.perSecond)}/s to ${Math.round(result.limit.perSecond)}/s; per processor second ${round(result.perCpu)}`;
  return [what, 'the other checkout', round(result.throughput), '≥ 0.9', detail];
}

type Pair = readonly [here: Checkout, base: Checkout];

const cycle = (items: readonly Buffer[]) => (n: number) => items[n % items.length];

const CASES: Readonly<Record<string, (both: Pair) => Promise<readonly Row[]>>> = {
  get: async (both) => [
    await pair('GET one asset, bearer', both, 64, ({ ids }) =>
      cycle(ids.map((id) => request(`GET /api/v1/media/${id}`, bearer))),
    ),
  ],
  list: async (both) => [
    await pair('list of 50', both, 32, () => cycle([request('GET /api/v1/media?limit=50', bearer)])),
  ],
  open: async (both) => [
    await pair('upload-url', both, 32, () =>
      cycle([
        request(
          'POST /api/v1/media/upload-url',
          { ...bearer, ...json },
          JSON.stringify({
            filename: 'clip.mp4',
            content_type: 'video',
            mime_type: 'video/mp4',
            size_bytes: 1000,
          }),
        ),
      ]),
    ),
  ],
  webhook: async (both) => [await pair('onprem webhook that changes state', both, 32, reports)],
  segments: async (both) => {
    const rows: Row[] = [];
    for (const kilobytes of [500, 20])
      for (const connections of [16, 64])
        rows.push(
          await pair(
            `segment of ${kilobytes} KB, ${connections} connections`,
            both,
            connections,
            (checkout) => segmentRequests(checkout, kilobytes),
          ),
        );
    return rows;
  },
  put: async (both) => [
    await pair('PUT of 20 KB, 16 connections', both, 16, async ({ server }) => {
      const opened = await openUploads(server, token, { count: 20_000 });
      const bytes = Buffer.alloc(20 * 1024, 'mediary');
      return () => {
        const upload = opened.pop();
        return upload && request(`PUT ${upload.path}`, { 'content-type': 'video/mp4' }, bytes);
      };
    }),
  ],
  images: async (both) => [await alternate('100 images, complete to ready', both, 5, imagesReady)],
  encode: async (both) => [await alternate('10 s of 1280×720, complete to ready', both, 3, videoReady)],
  start: async (both) => [await alternate('start to ready', both, 5, startUp)],
};

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

/** Seconds of some work on each checkout, alternately; a ratio above 1 means that this checkout is faster. */
async function alternate(
  what: string,
  [here, base]: Pair,
  rounds: number,
  work: (checkout: Checkout) => Promise<number>,
): Promise<Row> {
  const times: { here: number; base: number }[] = [];
  for (let n = 0; n <= rounds; n++) times.push({ base: await work(base), here: await work(here) });
  const counted = times.slice(1);
  const middle = (side: 'here' | 'base') => round(median(counted.map((time) => time[side])));
  const ratio = median(counted.map((time) => time.base / time.here));
  return [what, 'the other checkout', round(ratio), '≥ 0.9', `${middle('here')} s to ${middle('base')} s`];
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
  await makeSample(engine, file);
  return readFile(file);
}

type Media = { readonly mime: string; readonly kind: string; readonly bytes: Buffer };

/** Seconds from the first `complete` until all assets are ready. */
async function ready(checkout: Checkout, count: number, { mime, kind, bytes }: Media): Promise<number> {
  const server = await checkout.start('all');
  const wishes = { filename: 'file', content_type: kind, mime_type: mime };
  const opened = (await openUploads(server, token, { count, wishes })).slice(0, count);
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
const here = await openCheckout(HERE);
try {
  const rows: Row[] = [];
  for (const name of names.length > 0 ? names : Object.keys(CASES))
    rows.push(...((await CASES[name]?.([here, base])) ?? []));
  process.stdout.write(`${table(rows)}\n`);
} finally {
  await Promise.all([here.close(), base.close()]);
}
