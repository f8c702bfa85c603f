// Three API processes, two workers, PostgreSQL, Ceph and nginx: work passes through, restarts interrupt
// nobody, and kills lose nothing.
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Upload } from 'tus-js-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../deploy/cluster/cluster.ts';
import type { Supervised } from '../../deploy/cluster/supervised-process.ts';
import { makeClip, pacedEngine } from '../support/clips/clips.ts';
import { expectRefusal, expectSuccess } from '../support/http/envelope.ts';
import { freePort } from '../support/http/free-port.ts';
import { expectNothingLost } from '../support/store/kept-assets.ts';
import { openLedger } from '../support/store/ledger.ts';
import { type AssetJson, complete, IMAGE, openUpload, readAsset, settled, VIDEO } from '../support/media.ts';
import { CLEAN, decode } from '../support/clips/picture-and-sound.ts';
import { bombPng } from '../support/clips/pictures.ts';
import { logOf } from '../support/service/process-logs.ts';
import { kill, pidsOf } from '../support/service/supervised.ts';
import { startReaders } from '../support/http/reading-clients.ts';
import { describeFrozenProcesses } from './frozen-processes.ts';
import { asUser, call, eventually, SECRETS } from '../support/service.ts';
import { newDataDir } from '../support/service/data-folders.ts';
import { encodersOf, rows } from '../support/service/traces.ts';
import { sendAsOffered } from '../support/uploads/offered-upload.ts';
import { tusUrl } from '../support/uploads/tus.ts';
import { LIBRARY, tell } from '../support/providers/webhooks.ts';

const CLIENTS = 4;
/** That are acknowledged during the kills of one test. */
const WRITES = 100;

let folder: string;
let databaseDir: string;
let cluster: Cluster;
let api: { readonly url: string };

beforeAll(async () => {
  folder = await newDataDir();
  databaseDir = join(folder, 'postgres');
  const settings = {
    ...SECRETS,
    CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY),
    FFMPEG_PATH: await pacedEngine(),
    // Each process logs the requests that it answers.
    LOG_LEVEL: 'info',
    MULTIPART_UPLOAD_BYTES: '5000000',
  };
  const report = (message: string) => process.stdout.write(`${message}\n`);
  cluster = await startCluster({ folder, port: await freePort(), report, settings });
  api = { url: `${cluster.url}/api/v1` };
});
afterAll(async () => {
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const headers = asUser('ann');
const dataOf = async <T>(path: string) => (await call<T>(api, `GET ${path}`, { headers })).body.data;

async function ingest(bytes: Buffer, fields: object): Promise<AssetJson> {
  const started = await openUpload(api, 'ann', { ...fields, size_bytes: bytes.length });
  await sendAsOffered(started, bytes);
  expectSuccess(await complete(api, 'ann', started.asset_id));
  return settled(api, 'ann', started.asset_id);
}

async function downloaded(id: string): Promise<Buffer> {
  const { url } = await dataOf<{ url: string }>(`/media/${id}/download-url`);
  return Buffer.from(await (await fetch(url)).arrayBuffer());
}

test('images and videos pass through nginx: upload, encode, playback, download, delete', async () => {
  const [clip, picture] = [await readFile(await makeClip({ seconds: 2 })), bombPng(640, 480)];
  const [video, image] = await Promise.all([ingest(clip, VIDEO), ingest(picture, IMAGE)]);
  expect(video).toMatchObject({ stream_status: 'ready', visibility: 'private', warnings: [] });
  expect(image).toMatchObject({ stream_status: 'ready', failure: null });
  const { hls } = await dataOf<{ hls: string }>(`/media/${video.id}/playback`);
  expect(hls.startsWith(cluster.url)).toBe(true);
  expect(await decode(hls)).toEqual(CLEAN);
  expect((await fetch(`${api.url}/playback/${video.id}/hls.m3u8`)).status).toBe(404);
  for (const [{ id }, bytes] of [
    [video, clip],
    [image, picture],
  ] as const) {
    expect((await downloaded(id)).equals(bytes)).toBe(true);
    expectSuccess(await call(api, `DELETE /media/${id}`, { headers }));
    expectRefusal(await call(api, `GET /media/${id}`, { headers }), 404);
  }
});

/** Plays as the clip does. */
const largeClip = async (size: number) =>
  Buffer.concat([await readFile(await makeClip({ seconds: 2 })), Buffer.alloc(size, 'padding')]);

test('a large upload goes to the store in parts, and webhooks are processed', async () => {
  const large = await largeClip(18_000_000);
  const video = await openUpload(api, 'ann', { ...VIDEO, size_bytes: large.length });
  expect(video.upload).toMatchObject({ protocol: 's3-multipart' });
  await sendAsOffered(video, large);
  expectSuccess(await complete(api, 'ann', video.asset_id));
  expect((await downloaded(video.asset_id)).equals(large)).toBe(true);

  const { asset_id: id } = await openUpload(api, 'ann');
  const playback = { hls: 'https://v.example/1.m3u8', dash: null, thumbnail: null };
  const report = await tell(api, 'onprem', { asset_id: id, status: 'ready', playback });
  expect(report.data).toEqual({ processed: true });
  expect(await readAsset(api, 'ann', id)).toMatchObject({ stream_status: 'ready', playback });
});

/** How many requests with bytes of resumable uploads each API process has answered. */
const countPatches = () =>
  Promise.all(
    cluster.apis.map(async ({ name }) => {
      const log = await readFile(join(folder, 'logs', `${name}.log`), 'utf8');
      return log.split('\n').filter((line) => /"method":"PATCH","route":"[^"]*\/tus/.test(line)).length;
    }),
  );

test('a resumable upload continues at any API process, also when one of them is killed', async () => {
  const large = await largeClip(18_000_000);
  const started = await openUpload(api, 'ann', { ...VIDEO, size_bytes: large.length });
  let killed: Promise<void> | undefined;
  await new Promise<void>((resolve, reject) => {
    new Upload(large, {
      endpoint: tusUrl(started),
      chunkSize: 500_000,
      onProgress: (sent) => {
        if (sent > large.length / 2) killed ??= kill(cluster.apis[0] as Supervised);
      },
      onSuccess: () => resolve(),
      onError: reject,
    }).start();
  });
  await killed;
  expect(Math.min(...(await countPatches())), 'requests at each process').toBeGreaterThan(0);
  expectSuccess(await complete(api, 'ann', started.asset_id));
  expect(await settled(api, 'ann', started.asset_id)).toMatchObject({
    stream_status: 'ready',
    checksum_sha256: createHash('sha256').update(large).digest('hex'),
  });
  expect((await downloaded(started.asset_id)).equals(large)).toBe(true);
});

test('what nginx itself refuses has the envelope too', async () => {
  const answer = await call(api, 'GET /media/%zz', { headers });
  expect(expectRefusal(answer, 400).error_code).toBe('BAD_REQUEST');
});

test('a rolling restart interrupts no request', async () => {
  const image = await ingest(bombPng(320, 200), { ...IMAGE, visibility: 'public' });
  const paths = [
    '/media',
    `/media/${image.id}`,
    `/media/${image.id}/download-url`,
    `/playback/${image.id}/image?w=320`,
  ];
  const readers = startReaders(
    paths.map((path) => `${api.url}${path}`),
    { clients: CLIENTS, headers },
  );
  const ledger = openLedger(api, CLIENTS, { name: 'restart' });
  const all = [...cluster.apis, ...cluster.workers];
  const before = pidsOf(all);
  await ledger.acknowledges(20);
  await cluster.restart();
  const written = await ledger.acknowledges(20);
  const [interruptions] = await Promise.all([readers.close(), ledger.close()]);
  expect([...ledger.surprises, ...ledger.interruptions, ...interruptions]).toEqual([]);
  expect(written).toBeGreaterThan(100);
  expect(readers.count()).toBeGreaterThan(100);
  await expectNothingLost(api, databaseDir, ledger);
  expect(pidsOf(all).filter((pid) => before.includes(pid))).toEqual([]);
});

const isAnswering = async () => (await fetch(`${cluster.url}/readyz`)).status === 200;

/** Kills them one after another under write load; each starts again without help. */
async function killUnderLoad(victims: readonly Supervised[], name: string): Promise<void> {
  const ledger = openLedger(api, CLIENTS, { name, hasRepeatingProxy: true });
  const writes = Math.ceil(WRITES / victims.length);
  for (const victim of victims) {
    await ledger.acknowledges(writes);
    await kill(victim);
  }
  await ledger.acknowledges(writes);
  await ledger.close();
  expect(ledger.surprises, await logOf(folder, ledger.surprises)).toEqual([]);
  await expectNothingLost(api, databaseDir, ledger);
}

test('killed processes lose nothing that was acknowledged, and leave nothing half done', () =>
  killUnderLoad([...cluster.apis, ...cluster.workers], 'kill'));

test('a kill of PostgreSQL, nginx or the S3 gateway loses nothing and ends no API process', async () => {
  const { apis, postgres, nginx, gateway } = cluster;
  const before = pidsOf(apis);
  const starts = [nginx.starts(), gateway.starts()];
  await killUnderLoad([postgres, nginx, gateway], 'crash');
  expect(pidsOf(apis)).toEqual(before);
  expect([nginx.starts(), gateway.starts()], 'started once more').toEqual(starts.map((count) => count + 1));
});

describeFrozenProcesses(() => ({ cluster, api, folder, databaseDir }));

test("a killed worker's encode is taken over by the other", async () => {
  const started = await openUpload(api, 'ann');
  await sendAsOffered(started, await readFile(await makeClip({ seconds: 8 })));
  expectSuccess(await complete(api, 'ann', started.asset_id));
  const busy = await eventually(
    async () => {
      const encoders = await encodersOf(started.asset_id);
      return cluster.workers.find((worker) => encoders.has(worker.pid() ?? 0));
    },
    (found) => found !== undefined,
  );
  await kill(busy as Supervised);
  expect(await settled(api, 'ann', started.asset_id)).toMatchObject({ stream_status: 'ready', warnings: [] });
  const [asset] = await rows(databaseDir, 'select attempt, encode_run from assets where id = $1', [
    started.asset_id,
  ]);
  expect(asset).toEqual({ attempt: 1, encode_run: 2 });
});

test('while PostgreSQL restarts the answer is 503 with Retry-After, and no process ends', async () => {
  const all = [...cluster.apis, ...cluster.workers];
  const before = pidsOf(all);
  const [restarted, answer] = await Promise.all([
    cluster.postgres.restart(),
    eventually(
      () => call(api, 'GET /media', { headers }),
      ({ status }) => status !== 200,
    ),
  ]);
  expect(restarted).toBeUndefined();
  expect(expectRefusal(answer, 503).error_code).toBe('UNAVAILABLE');
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  await eventually(isAnswering, Boolean);
  expect(await ingest(bombPng(64, 64), IMAGE)).toMatchObject({ stream_status: 'ready' });
  expect(pidsOf(all)).toEqual(before);
});
