// The disk of the store fills up: uploads are rejected, deletes work, no partial files remain, and the
// service recovers by itself.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freeBytes } from '../../service/src/platform/disk/free-space.ts';
import { makeClip } from '../support/clips/clips.ts';
import { expectRefusal, expectSuccess } from '../support/http/envelope.ts';
import { halves } from '../support/store/partial-writes.ts';
import { complete, IMAGE, openUpload, putBytes, readAsset, settled, type Started } from '../support/media.ts';
import {
  type Answer,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { newDataDir } from '../support/service/data-folders.ts';
import { fillDisk, mountTightDisk, type TightDisk } from '../support/service/small-disk.ts';
import { filesNaming, openJobs, rows } from '../support/service/traces.ts';
import { create, offsetOf, patch, send } from '../support/uploads/tus.ts';

const MIB = 1024 * 1024;
const ROOM = 80 * MIB;
const RESERVE = 16 * MIB;
/** With ever smaller files, until not even the smallest is accepted. */
const FILLINGS = [4 * MIB, 256 * 1024, 4096].map((size) => Buffer.alloc(size, 'filling '));
const headers = asUser('ann');

let dataDir: string;
let storeDir: string;
let disk: TightDisk;
let service: TestService;
let shown: string;
let picture: Started;
let video: Started;
const filling: string[] = [];
let refused: Started;
let refusals: Answer[];

beforeAll(async () => {
  [dataDir, storeDir] = [await newDataDir(), await newDataDir()];
  disk = await mountTightDisk(storeDir, { bytes: ROOM, reserve: RESERVE });
  service = await startTestService(
    {
      DATA_DIR: dataDir,
      STORAGE_URL: pathToFileURL(storeDir).href,
      LOG_LEVEL: 'silent',
      MIN_FREE_BYTES: String(RESERVE),
    },
    disk.wrapAdapters ? { wrapAdapters: disk.wrapAdapters } : {},
  );
  const png = await sharp({ create: { width: 2000, height: 1500, channels: 3, background: 'teal' } })
    .png()
    .toBuffer();
  [picture, video] = [
    await stored(png, IMAGE),
    await stored(await readFile(await makeClip({ seconds: 1 })), {}),
  ];
  const first = await stored(png, IMAGE);
  expectSuccess(await complete(service, 'ann', first.asset_id));
  shown = (await settled(service, 'ann', first.asset_id)).id;
  expectSuccess(await call(service, `GET ${service.address}/readyz?for=jobs`));
  refusals = [];
  for (const bytes of FILLINGS) refusals.push(await fill(bytes));
});

afterAll(async () => {
  await service?.stop();
  await disk?.unmount();
  await Promise.all(
    [dataDir, storeDir].map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })),
  );
});

async function stored(bytes: Uint8Array, fields: object): Promise<Started> {
  const started = await openUpload(service, 'ann', fields);
  expectSuccess(await putBytes(started, bytes));
  return started;
}

/** Answers the first refusal. */
async function fill(bytes: Buffer): Promise<Answer> {
  for (;;) {
    const started = await openUpload(service, 'ann', IMAGE);
    const answer = await putBytes(started, bytes);
    if (answer.status !== 200) {
      refused = started;
      return answer;
    }
    filling.push(started.asset_id);
  }
}

const variant = (width: number) => fetch(`${service.url}/playback/${shown}/image?w=${width}`, { headers });

function expectFull(answer: Answer): void {
  expect(expectRefusal(answer, 503)).toMatchObject({ error_code: 'UNAVAILABLE' });
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}

test('uploads of any size get 503 with Retry-After while the disk is full', async () => {
  expect(filling.length).toBeGreaterThan(10);
  for (const answer of refusals) {
    expectFull(answer);
    expect(answer.body.error.details).toEqual({ reason: 'disk_full' });
    expect(answer.body.message).toContain('MIN_FREE_BYTES');
  }
});

test('uploads leave the reserve free, and a large upload is stopped before it uses the reserve', async ({
  skip,
}) => {
  skip(disk.wrapAdapters !== undefined, 'needs the right to mount a tmpfs');
  const [last = ''] = filling.splice(-1);
  expectSuccess(await call(service, `DELETE /media/${last}`, { headers }));
  await eventually(
    () => filesNaming(storeDir, last),
    (files) => files.length === 0,
  );
  expect(await freeBytes(storeDir)).toBeGreaterThan(RESERVE);
  expectFull(await putBytes(await openUpload(service, 'ann', IMAGE), Buffer.alloc(ROOM, 'large ')));
  expect(await filesNaming(join(storeDir, 'incoming'))).toEqual([]);
  expect(await freeBytes(storeDir)).toBeGreaterThan(RESERVE);
  await fill(FILLINGS[1] as Buffer);
});

test('deletes work on a disk without a single free byte', async ({ skip }) => {
  skip(disk.wrapAdapters !== undefined, 'needs the right to mount a tmpfs');
  const other = join(storeDir, 'of-another-program');
  await fillDisk(other);
  const [deleted = ''] = filling.splice(-1);
  expectFull(await putBytes(refused, FILLINGS[2] as Buffer));
  expectSuccess(await call(service, `DELETE /media/${deleted}`, { headers }));
  await eventually(
    () => filesNaming(storeDir, deleted),
    (files) => files.length === 0,
  );
  await rm(other);
  await fill(FILLINGS[1] as Buffer);
});

test('a resumable upload gets 503 and keeps its acknowledged bytes', async ({ skip }) => {
  skip(disk.wrapAdapters !== undefined, 'needs the right to mount a tmpfs');
  for (const deleted of filling.splice(0, 2))
    expectSuccess(await call(service, `DELETE /media/${deleted}`, { headers }));
  await eventually(
    () => freeBytes(storeDir),
    (free) => free > RESERVE + 6 * MIB,
  );
  const bytes = Buffer.alloc(ROOM / 2, 'resumable ');
  const url = await create(await openUpload(service, 'ann', IMAGE), bytes.length);
  expect((await patch(url, 0, bytes.subarray(0, MIB))).status).toBe(204);
  for (const _ of ['first', 'repeated']) {
    const refused = await patch(url, MIB, bytes.subarray(MIB));
    expect(refused).toMatchObject({ status: 503, reason: 'disk_full' });
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await offsetOf(url)).toBe(MIB);
    expect(await freeBytes(storeDir)).toBeGreaterThan(RESERVE / 2);
  }
  expect((await patch(url, MIB, bytes.subarray(MIB, 2 * MIB))).status).toBe(204);
  expect((await send(`DELETE ${url}`)).status).toBe(204);
  for (const size of FILLINGS) await fill(size);
});

test('rejected uploads leave no files and stay pending', async () => {
  expect(await filesNaming(join(storeDir, 'incoming'))).toEqual([]);
  expect(await filesNaming(storeDir, refused.asset_id)).toEqual([]);
  expect(await readAsset(service, 'ann', refused.asset_id)).toMatchObject({
    stream_status: 'pending_upload',
    uploaded_at: null,
    size_bytes: null,
  });
  expect(await halves(dataDir)).toEqual([]);
});

test('/readyz reports it for uploads, and stored files can still be read', async () => {
  const ready = (purpose: string) => call(service, `GET ${service.address}/readyz?for=${purpose}`);
  expectFull(await ready('uploads'));
  expectFull(await ready('jobs'));
  expectSuccess(await ready('serving'));
  const { body } = await call<{ url: string }>(service, `GET /media/${filling[0]}/download-url`, { headers });
  expect(Buffer.from(await (await fetch(body.data.url)).arrayBuffer()).equals(FILLINGS[0] as Buffer)).toBe(
    true,
  );
});

test('a new image variant gets 503, not 500', async () => {
  expectSuccess(await call(service, `PATCH /media/${shown}`, { headers, json: { visibility: 'public' } }));
  expectFull(await call(service, `GET /playback/${shown}/image?w=1280`));
  expect((await variant(1280)).status).toBe(503);
});

test('completed uploads wait for space, and continue after deletes free it', async () => {
  for (const { asset_id: id } of [picture, video]) expectSuccess(await complete(service, 'ann', id));
  const waiting = () =>
    rows(
      dataDir,
      `select name from pgboss.job where state = 'retry'
          and name in ('process-image', 'encode-asset') order by name`,
    );
  await eventually(waiting, (jobs) => jobs.length === 2);
  for (const id of filling) expectSuccess(await call(service, `DELETE /media/${id}`, { headers }));

  for (const { asset_id: id } of [picture, video])
    expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready', failure: null });
  await eventually(
    () => openJobs(dataDir),
    (jobs) => jobs.length === 0,
  );
  expect((await putBytes(refused, FILLINGS[0] as Buffer)).status).toBe(200);
  expect((await variant(1280)).status).toBe(200);
  await eventually(
    () => call(service, `GET ${service.address}/readyz?for=jobs`),
    ({ status }) => status === 200,
  );
});

test('failed operations left no files', async () => {
  expect(await filesNaming(join(storeDir, 'incoming'))).toEqual([]);
  for (const id of filling) expect(await filesNaming(storeDir, id)).toEqual([]);
  expect(await halves(dataDir)).toEqual([]);
  const folders = (await filesNaming(storeDir, `renditions/${video.asset_id}/`)).map((path) =>
    path.slice(0, path.lastIndexOf('/')),
  );
  expect(new Set(folders).size).toBe(1);
});
