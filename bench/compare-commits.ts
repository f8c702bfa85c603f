// Compares this checkout with another one of the same repository in one run.
// `npm run bench:commits -- ../other-checkout [case …]`; the other checkout needs `npm ci`.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { openDiskObjectStore } from '../service/src/storage/disk-object-store.ts';
import { assetRequests, bearerOf, cycle, reportRequests, uploadUrlRequest } from './cases.ts';
import { type Case, type Checkout, compare, openCheckout, token } from './checkouts.ts';
import { makeClip } from './encode.ts';
import { openUploads } from './environment.ts';
import { makeImage, waitUntilReady } from './images.ts';
import { request, run } from './load.ts';
import { type Row, table } from './rows.ts';
import { preparePlayableAsset, storeSegments } from './segments.ts';
import { smallUploads } from './uploads.ts';

const IMAGES = 100;
/** Assets whose state the webhook case changes; the others keep theirs. */
const REPORTED = 500;

const CASES: Readonly<Record<string, readonly Case[]>> = {
  get: [
    {
      what: 'GET one asset, bearer',
      connections: 64,
      requests: ({ ids }) => cycle(assetRequests(ids, token)),
    },
  ],
  list: [
    {
      what: 'list of 50',
      connections: 32,
      requests: () => cycle([request('GET /api/v1/media?limit=50', bearerOf(token))]),
    },
  ],
  open: [{ what: 'upload-url', connections: 32, requests: () => cycle([uploadUrlRequest(token)]) }],
  webhook: [
    {
      what: 'onprem webhook that changes state',
      connections: 32,
      requests: ({ ids }) => reportRequests(ids.slice(0, REPORTED)),
    },
  ],
  segments: [500, 20].flatMap((kilobytes) =>
    [16, 64].map((connections) => ({
      what: `segment of ${kilobytes} KB, ${connections} connections`,
      connections,
      requests: (checkout: Checkout) => segmentRequests(checkout, kilobytes),
    })),
  ),
  manifests: [
    { what: 'manifests of a video with token, 16 connections', connections: 16, requests: manifestRequests },
  ],
  put: [
    {
      what: 'PUT of 20 KB, 16 connections',
      connections: 16,
      requests: ({ server }) => smallUploads(server, token, 20_000),
    },
  ],
  images: [{ what: `${IMAGES} images, complete to ready`, rounds: 5, work: imagesReady }],
  encode: [{ what: '10 s of 1280×720, complete to ready', rounds: 3, work: videoReady }],
  start: [{ what: 'start to ready', rounds: 5, work: startUp }],
};

async function segmentRequests(checkout: Checkout, kilobytes: number) {
  const { folder, databaseUrl, server: service } = checkout;
  const id = checkout.ids.at(-1) as string;
  const base = await preparePlayableAsset({ databaseUrl, service, token }, id);
  const store = await openDiskObjectStore(join(folder, 'objects'));
  // Two cases use the same segments.
  const stored = checkout.segments.get(kilobytes) ?? (await storeSegments(store, id, kilobytes)).names;
  checkout.segments.set(kilobytes, stored);
  return cycle(stored.map((name) => request(`GET ${base}/${name}`)));
}

/** Of a video that this checkout has encoded. */
async function manifestRequests(checkout: Checkout) {
  const { id } = await encodeClip(checkout);
  const response = await fetch(`http://127.0.0.1:${checkout.server.port}/api/v1/media/${id}/playback`, {
    headers: bearerOf(token),
  });
  const { data } = (await response.json()) as { data: { hls: string } };
  const base = new URL('.', data.hls).pathname;
  return cycle(['hls.m3u8', 'dash.mpd', '1-1/r0.m3u8'].map((name) => request(`GET ${base}${name}`)));
}

async function startUp(checkout: Checkout): Promise<number> {
  const begun = performance.now();
  const server = await checkout.start('api');
  const seconds = (performance.now() - begun) / 1000;
  await server.stop();
  return seconds;
}

async function imagesReady(checkout: Checkout): Promise<number> {
  const images = { mime: 'image/jpeg', kind: 'image', bytes: await makeImage() };
  return (await makeReady(checkout, IMAGES, images)).seconds;
}

let clip: Buffer | undefined;
async function videoReady(checkout: Checkout): Promise<number> {
  return (await encodeClip(checkout)).seconds;
}

async function encodeClip(checkout: Checkout): Promise<Ready> {
  clip ??= await readFile((await makeClip(checkout.folder)).source);
  return makeReady(checkout, 1, { mime: 'video/mp4', kind: 'video', bytes: clip });
}

type Media = { readonly mime: string; readonly kind: string; readonly bytes: Buffer };

/** `id`: of the first asset. `seconds`: from the first `complete` until all assets are ready. */
type Ready = { readonly id: string; readonly seconds: number };

async function makeReady(checkout: Checkout, count: number, { mime, kind, bytes }: Media): Promise<Ready> {
  const server = await checkout.start('all');
  const upload = { filename: 'file', content_type: kind, mime_type: mime };
  const opened = (await openUploads(server, token, { count, upload })).slice(0, count);
  const send = (requests: readonly Buffer[]) =>
    run({ port: server.port, connections: 4, seconds: 600, next: (n) => requests[n] });
  await send(opened.map(({ path }) => request(`PUT ${path}`, { 'content-type': mime }, bytes)));
  const client = new pg.Client({ connectionString: checkout.databaseUrl });
  await client.connect();
  const begun = performance.now();
  await send(opened.map(({ id }) => request(`POST /api/v1/media/${id}/complete`, bearerOf(token))));
  await waitUntilReady(
    client,
    opened.map(({ id }) => id),
  );
  const seconds = (performance.now() - begun) / 1000;
  await client.end();
  await server.stop();
  return { id: opened[0]?.id ?? '', seconds };
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
