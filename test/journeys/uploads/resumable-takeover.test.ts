// Two processes on one database and one store: a client goes on at the other one (contract B4).
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Adapters } from '../../../service/src/adapters.ts';
import type { ObjectStore } from '../../../service/src/storage/object-store.ts';
import { IMAGE, openUpload, putBytes, readAsset, type Started } from '../../support/media.ts';
import { type SharedData, startSharedData } from '../../support/postgres/shared-data.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { beginPatch, BYTES, create, offsetOf, patch, send } from '../../support/uploads/tus.ts';
import { readAnswer } from '../../support/http/raw-socket.ts';
import { originalFiles } from '../../support/service/traces.ts';
import { heldUploadsOf, uploadsOf } from '../../support/postgres/upload-rows.ts';

let data: SharedData;
let services: TestService[];
let first: TestService;
let second: TestService;
/** Settled when the second process may read the bytes that it did not receive. */
let mayRead = Promise.resolve();
let reads = 0;

const withWaitingReads = (adapters: Adapters): Adapters => ({
  ...adapters,
  store: { ...adapters.store, stream: (...request) => waitingStream(adapters.store, request) },
});

function waitingStream(store: ObjectStore, request: Parameters<ObjectStore['stream']>): Readable {
  reads += 1;
  return Readable.from(
    (async function* () {
      await mayRead;
      yield* store.stream(...request);
    })(),
  );
}

beforeAll(async () => {
  data = await startSharedData();
  const { DATABASE_URL, STORAGE_URL } = data.environment;
  const shared = { DATABASE_URL, STORAGE_URL, MEDIARY_ROLE: 'api' };
  services = [
    await startTestService(shared),
    await startTestService(shared, { wrapAdapters: withWaitingReads }),
  ];
  [first, second] = services as [TestService, TestService];
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await data.remove();
});

const atSecond = (url: string) => url.replace(first.address, second.address);

async function expectStored(id: string): Promise<void> {
  expect(await readAsset(first, 'ann', id)).toMatchObject({
    size_bytes: BYTES.length,
    checksum_sha256: createHash('sha256').update(BYTES).digest('hex'),
  });
}

test('goes on while the earlier request is open at the first process', async () => {
  const started = await openUpload(first, 'ann', { ...IMAGE, size_bytes: BYTES.length });
  const url = await create(started);
  const socket = await beginPatch(url, { offset: 0, length: BYTES.length });
  socket.write(BYTES.subarray(0, 1_000_000));
  const offset = await eventually(
    () => offsetOf(atSecond(url)),
    (stored) => stored > 0,
  );
  expect(await patch(atSecond(url), offset, BYTES.subarray(offset))).toMatchObject({ status: 204 });
  // The first client goes on sending, and reads why its request ended.
  socket.write(BYTES.subarray(1_000_000));
  const { status, body } = await readAnswer(socket);
  expect([status, body]).toEqual([409, expect.stringContaining('upload_in_progress')]);
  await expectStored(started.asset_id);
  expect(reads).toBe(1);
});

test('waits with 423 or 409 while a process reads the bytes that the other one received', async () => {
  const started = await openUpload(first, 'ann', { ...IMAGE, size_bytes: BYTES.length });
  const url = await create(started);
  await patch(url, 0, BYTES.subarray(0, 1_000_000));
  const gate = Promise.withResolvers<void>();
  mayRead = gate.promise;
  const last = patch(atSecond(url), 1_000_000, BYTES.subarray(1_000_000));
  await eventually(
    async () => reads,
    (count) => count > 1,
  );
  for (const waiting of await Promise.all([send(`HEAD ${url}`), send(`HEAD ${atSecond(url)}`)])) {
    expect(waiting.status).toBe(423);
    expect(waiting.headers.get('retry-after')).toBe('1');
  }
  const refused = await patch(url, 1_000_000, BYTES.subarray(1_000_000));
  expect(refused).toMatchObject({ status: 409, reason: 'upload_in_progress' });
  expect(refused.headers.get('retry-after')).toBe('1');
  gate.resolve();
  expect(await last).toMatchObject({ status: 204 });
  expect(await offsetOf(url)).toBe(BYTES.length);
  await expectStored(started.asset_id);
});

const remove = ({ asset_id: id }: Started) => call(second, `DELETE /media/${id}`, { headers: asUser('ann') });

/** Partial and complete files of an asset. No job removes them here: no process is a worker. */
async function filesOf({ asset_id: id }: Started): Promise<string[]> {
  const partial = await readdir(join(data.dataDir, 'objects', 'partial'));
  return [...partial.filter((name) => name.startsWith(id)), ...(await originalFiles(data.dataDir, id))];
}

test.each([
  ['its asset is deleted', remove, 0],
  ['another upload of the asset has won', (started: Started) => putBytes(started, BYTES), 1],
])(
  'a request that goes on sending ends soon after %s, and its bytes are gone',
  async (_what, close, kept) => {
    const started = await openUpload(first, 'ann', { ...IMAGE, size_bytes: BYTES.length });
    const url = await create(started);
    expect(await patch(url, 0, BYTES.subarray(0, 1000))).toMatchObject({ status: 204 });
    const socket = await beginPatch(url, { offset: 1000, length: BYTES.length - 1000 });
    const ended = once(socket.on('error', () => undefined).resume(), 'close');
    socket.write(BYTES.subarray(1000, 1_000_000));
    await eventually(
      () => heldUploadsOf(first, started.asset_id),
      (held) => held.length > 0,
    );
    expect(await close(started)).toMatchObject({ status: 200 });
    await ended;
    await eventually(
      () => uploadsOf(first, started.asset_id),
      (rows) => rows.filter(({ protocol }) => protocol === 'tus').length === 0,
    );
    expect(await filesOf(started)).toHaveLength(kept);
  },
);

test('an upload that finishes while its asset is deleted leaves no file', async () => {
  const started = await openUpload(first, 'ann', { ...IMAGE, size_bytes: BYTES.length });
  const url = await create(started);
  await patch(url, 0, BYTES.subarray(0, 1_000_000));
  const gate = Promise.withResolvers<void>();
  mayRead = gate.promise;
  const before = reads;
  const last = patch(atSecond(url), 1_000_000, BYTES.subarray(1_000_000));
  await eventually(
    async () => reads,
    (count) => count > before,
  );
  expect(await remove(started)).toMatchObject({ status: 200 });
  gate.resolve();
  expect(await last).toMatchObject({ status: 404 });
  expect(await uploadsOf(first, started.asset_id)).toEqual([]);
  expect(await filesOf(started)).toEqual([]);
});
