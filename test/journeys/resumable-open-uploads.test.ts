// How many resumable uploads of an asset are open, which bounds the bytes that they store (contract B4).
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IMAGE, openUpload, readAsset, type Started } from '../support/media.ts';
import { eventually, startTestService, type TestService } from '../support/service.ts';
import { beginPatch, BYTES, create, patch, send, TUS, tusUrl } from '../support/tus.ts';
import { heldUploadsOf, uploadsOf } from '../support/upload-rows.ts';

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
