// How many resumable uploads of an asset are open, which bounds the bytes that they store (contract B4).
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { uploadKey } from '../../../service/src/storage/object-key.ts';
import { IMAGE, openUpload, putBytes, readAsset, type Started } from '../../support/media.ts';
import { eventually, startTestService, type TestService } from '../../support/service.ts';
import { beginPatch, BYTES, create, patch, send, TUS, tusUrl } from '../../support/uploads/tus.ts';
import { originalFiles } from '../../support/service/traces.ts';
import { heldUploadsOf, uploadsOf } from '../../support/postgres/upload-rows.ts';

const MAX_OPEN = 3;
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service.stop());

const open = () => openUpload(service, 'ann', { ...IMAGE, size_bytes: BYTES.length });
const tryCreation = (started: Started) =>
  send(`POST ${tusUrl(started)}`, { ...TUS, 'upload-length': String(BYTES.length) });

const untilHeld = (started: Started, count: number) =>
  eventually(
    () => heldUploadsOf(service, started.asset_id),
    (held) => held.length === count,
  );

test('three are open at most while requests write them', async () => {
  const started = await open();
  const sockets: Socket[] = [];
  for (let count = 1; count <= MAX_OPEN; count += 1) {
    const socket = await beginPatch(await create(started), { offset: 0, length: BYTES.length });
    socket.on('error', () => undefined).write(BYTES.subarray(0, 1000));
    sockets.push(socket);
    await untilHeld(started, count);
  }
  const refused = await tryCreation(started);
  expect(refused).toMatchObject({ status: 409, reason: 'upload_in_progress' });
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await uploadsOf(service, started.asset_id)).toHaveLength(MAX_OPEN);

  sockets[0]?.destroy();
  await untilHeld(started, MAX_OPEN - 1);
  expect((await patch(await create(started), 0, BYTES)).status).toBe(204);
  for (const socket of sockets) socket.destroy();
  expect(await readAsset(service, 'ann', started.asset_id)).toMatchObject({ size_bytes: BYTES.length });
});

test('three are open at most after many creations at the same time', async () => {
  const started = await open();
  const created = await Promise.all(Array.from({ length: 12 }, () => tryCreation(started)));
  const statuses = new Set(created.map(({ status }) => status));
  expect(statuses).toContain(201);
  expect([...statuses].filter((status) => status !== 201 && status !== 409)).toEqual([]);
  expect((await uploadsOf(service, started.asset_id)).length).toBeLessThanOrEqual(MAX_OPEN);
});

test('a client that loses the responses to its creations can create another one', async () => {
  const started = await open();
  const urls: string[] = [];
  for (let count = 0; count < MAX_OPEN + 3; count += 1) urls.push(await create(started));
  const statuses = await Promise.all(urls.map(async (url) => (await send(`HEAD ${url}`)).status));
  expect(statuses).toEqual([404, 404, 404, 200, 200, 200]);
  expect((await patch(urls.at(-1) ?? '', 0, BYTES)).status).toBe(204);
});

test('of three that finish at the same time one wins, and the bytes of the others are gone', async () => {
  const started = await open();
  const last = BYTES.length - 1;
  const urls = [await create(started), await create(started), await create(started)];
  for (const url of urls) expect(await patch(url, 0, BYTES.subarray(0, last))).toMatchObject({ status: 204 });
  const ended = await Promise.all(urls.map((url) => patch(url, last, BYTES.subarray(last))));
  expect(ended.map(({ status }) => status).sort()).toEqual([204, 409, 409]);
  expect(await originalFiles(service.dataDir, started.asset_id)).toHaveLength(1);
  expect(await uploadsOf(service, started.asset_id)).toMatchObject([{ is_finished: true }]);
});

/** Leaves an upload as a process does that is killed between the object store and the database. */
async function interruptFinish(started: Started): Promise<string> {
  const url = await create(started);
  const upload = new URL(url).pathname.split('/').at(-1) as string;
  await service.adapters.store.put(uploadKey(started.asset_id, upload), [BYTES], BYTES.length);
  await service.adapters.db.one(sql('test: all bytes of an upload')`
    update uploads set bytes_received = size_bytes where id = ${upload}`);
  return url;
}

test.each([
  [
    'a client asks for it after another upload has won',
    async (started: Started, url: string) => {
      expect((await putBytes(started, BYTES)).status).toBe(200);
      expect((await send(`HEAD ${url}`)).status).toBe(409);
      return 1;
    },
  ],
  [
    'newer ones take its place',
    async (started: Started) => {
      for (let count = 0; count < MAX_OPEN; count += 1) await create(started);
      return 0;
    },
  ],
])('one that was interrupted while it finished is removed with its object when %s', async (_when, end) => {
  const started = await open();
  const url = await interruptFinish(started);
  expect(await originalFiles(service.dataDir, started.asset_id)).toHaveLength(1);
  const kept = await end(started, url);
  expect(await originalFiles(service.dataDir, started.asset_id)).toHaveLength(kept);
});
