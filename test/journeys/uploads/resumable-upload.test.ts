// Uploads that go on after a broken connection: tus 1.0.0, with a real client and by hand (contract B4).
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Upload } from 'tus-js-client';
import { complete, IMAGE, openUpload, putBytes, readAsset, type Started } from '../../support/media.ts';
import {
  beginPatch,
  BYTES,
  create,
  offsetOf,
  patch,
  send,
  targetsOf,
  TUS,
  tusUrl,
} from '../../support/uploads/tus.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { heldUploadsOf } from '../../support/postgres/upload-rows.ts';

let service: TestService;
let minutesLater = 0;
beforeAll(async () => {
  service = await startTestService(
    { UPLOAD_TTL_S: '3600' },
    { now: () => new Date(Date.now() + minutesLater * 60_000) },
  );
});
afterAll(() => service.stop());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const open = (fields: object = {}) => openUpload(service, 'ann', { ...IMAGE, ...fields });

const expectStored = async (id: string, bytes: Uint8Array) => {
  expect(await readAsset(service, 'ann', id)).toMatchObject({
    size_bytes: bytes.length,
    checksum_sha256: sha256(bytes),
    stream_status: 'pending_upload',
  });
  const { body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, {
    headers: asUser('ann'),
  });
  const stored = Buffer.from(await (await fetch(body.data.url)).arrayBuffer());
  expect(stored.equals(bytes)).toBe(true);
};

const partialFiles = async (id: string) =>
  (await readdir(join(service.dataDir, 'objects', 'partial'))).filter((name) => name.startsWith(id));
describe('a tus client', () => {
  test.each([
    ['in chunks that fit no boundary', { chunkSize: 700_001 }],
    ['in one request', {}],
    ['with the first bytes in the creation', { uploadDataDuringCreation: true, chunkSize: 1_000_000 }],
    ['with a length that it learns later', { uploadLengthDeferred: true, chunkSize: 1_000_000 }],
    ['in four parts at the same time', { parallelUploads: 4 }],
  ])('uploads a file %s', async (_how, options) => {
    const started = await open();
    await new Promise<void>((onSuccess, onError) => {
      new Upload(BYTES, {
        endpoint: tusUrl(started),
        ...options,
        retryDelays: null,
        onSuccess: () => onSuccess(),
        onError,
      }).start();
    });
    await expectStored(started.asset_id, BYTES);
    expect(await partialFiles(started.asset_id)).toEqual([]);
  });

  test('goes on where it was when the connections break', async () => {
    const started = await open({ size_bytes: BYTES.length });
    const url = await create(started);
    let stored = 0;
    for (const part of [1, 100_000, 65_536, 900_000]) {
      const before = stored;
      // A request that comes back before the first byte was read finds none.
      for (let attempt = 0; attempt < 20 && stored === before; attempt += 1) {
        const socket = await sendPart(url, stored, part);
        await writerOf(started);
        // The socket stays open: the service cannot know that the client is gone.
        const startedAt = performance.now();
        const offset = await offsetOf(url);
        expect(performance.now() - startedAt).toBeLessThan(5000);
        expect(offset).toBeGreaterThanOrEqual(stored);
        expect(offset).toBeLessThanOrEqual(stored + part);
        stored = offset;
        socket.destroy();
      }
      expect(stored).toBeGreaterThan(before);
    }
    const last = await patch(url, stored, BYTES.subarray(stored));
    expect(last).toMatchObject({ status: 204 });
    expect(last.headers.get('upload-offset')).toBe(String(BYTES.length));
    await expectStored(started.asset_id, BYTES);
  });
});

/** A PATCH that announces all bytes that are left and sends only some. */
async function sendPart(url: string, offset: number, count: number): Promise<Socket> {
  const socket = await beginPatch(url, { offset, length: BYTES.length - offset });
  await new Promise((written) => {
    socket.write(BYTES.subarray(offset, offset + count), written);
  });
  return socket;
}

/** Waits until a request holds the upload. */
const writerOf = ({ asset_id: id }: Started) =>
  eventually(
    () => heldUploadsOf(service, id),
    (held) => held.length > 0,
  );

/** `Upload-Expires` is an HTTP date, in whole seconds. */
function expectExpiryIn(minutes: number, headers: Headers): void {
  const expiresAt = headers.get('upload-expires') ?? '';
  expect(expiresAt).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
  const seconds = (Date.parse(expiresAt) - Date.now()) / 1000;
  expect(seconds).toBeLessThanOrEqual(minutes * 60);
  expect(seconds).toBeGreaterThan(minutes * 60 - 30);
}

describe('the upload', () => {
  test('is offered beside the PUT, and first for large files', async () => {
    expect(targetsOf(await open()).map(({ protocol }) => protocol)).toEqual(['put', 'tus']);
    const large = await startTestService({ MEDIARY_ROLE: 'api', RESUMABLE_UPLOAD_BYTES: '1000' });
    try {
      const started = await openUpload(large, 'ann', { ...IMAGE, size_bytes: 1001 });
      expect(targetsOf(started).map(({ protocol }) => protocol)).toEqual(['tus', 'put']);
      expect(started.upload_url).toBe(tusUrl(started));
    } finally {
      await large.stop();
    }
  });

  test('finishes as a PUT does: it can be completed once, and not terminated', async () => {
    const started = await open();
    const url = await create(started);
    await patch(url, 0, BYTES);
    expect((await patch(url, BYTES.length, Buffer.alloc(0))).status).toBe(204);
    expect(await offsetOf(url)).toBe(BYTES.length);
    expect(await send(`DELETE ${url}`)).toMatchObject({ status: 409, reason: 'already_uploaded' });
    await expectStored(started.asset_id, BYTES);
    expect((await complete(service, 'ann', started.asset_id)).body.error?.details).toMatchObject({
      reason: 'type_mismatch',
    });
  });

  test('with another checksum than announced is refused by complete', async () => {
    const started = await open({ checksum_sha256: '0'.repeat(64) });
    const url = await create(started);
    await patch(url, 0, BYTES);
    expect((await complete(service, 'ann', started.asset_id)).body.error?.details).toMatchObject({
      reason: 'checksum_mismatch',
    });
  });

  test('of two the first that finishes wins, and the bytes of the other go', async () => {
    const started = await open();
    const [first, second] = [await create(started), await create(started)];
    await patch(first, 0, BYTES.subarray(0, 1000));
    expect((await patch(second, 0, BYTES)).status).toBe(204);
    const late = await patch(first, 1000, BYTES.subarray(1000));
    expect([404, 409], 'closed, or removed already').toContain(late.status);
    expect((await putBytes(started, BYTES)).status).toBe(409);
    await eventually(
      () => partialFiles(started.asset_id),
      (files) => files.length === 0,
      { withinMs: 120_000 },
    );
    await expectStored(started.asset_id, BYTES);
  });

  test('needs the offset that is stored', async () => {
    const url = await create(await open());
    await patch(url, 0, BYTES.subarray(0, 1000));
    for (const offset of [0, 999, 1001])
      expect(await patch(url, offset, BYTES.subarray(0, 10))).toMatchObject({
        status: 409,
        reason: 'offset_mismatch',
      });
    expect(await offsetOf(url)).toBe(1000);
  });

  test('ends with its termination, with its bytes', async () => {
    const started = await open();
    const url = await create(started);
    await patch(url, 0, BYTES.subarray(0, 1000));
    expect((await send(`DELETE ${url}`)).status).toBe(204);
    expect((await send(`HEAD ${url}`)).status).toBe(404);
    expect(await partialFiles(started.asset_id)).toEqual([]);
    await patch(await create(started), 0, BYTES);
    await expectStored(started.asset_id, BYTES);
  });

  test('of a deleted asset is removed with its bytes', async () => {
    const started = await open();
    const url = await create(started);
    await patch(url, 0, BYTES.subarray(0, 1000));
    expect(await partialFiles(started.asset_id)).toHaveLength(1);
    await call(service, `DELETE /media/${started.asset_id}`, { headers: asUser('ann') });
    await eventually(
      () => partialFiles(started.asset_id),
      (files) => files.length === 0,
      { withinMs: 120_000 },
    );
    expect((await patch(url, 1000, BYTES.subarray(1000))).status).toBe(404);
  });

  test('lives as long as bytes arrive, and an hour longer', async () => {
    const started = await open();
    const created = await send(`POST ${tusUrl(started)}`, { ...TUS, 'upload-length': String(BYTES.length) });
    expectExpiryIn(60, created.headers);
    const url = new URL(created.headers.get('location') as string, tusUrl(started)).href;
    try {
      minutesLater = 50;
      const patched = await patch(url, 0, BYTES.subarray(0, 1000));
      expect(patched.status).toBe(204);
      expectExpiryIn(50 + 60, patched.headers);
      minutesLater = 100;
      expect(await offsetOf(url)).toBe(1000);
      expect((await send(`POST ${tusUrl(started)}`, { ...TUS, 'upload-length': '5' })).status).toBe(401);
      minutesLater = 111;
      expect((await patch(url, 1000, BYTES.subarray(1000))).status).toBe(404);
    } finally {
      minutesLater = 0;
    }
  });

  test('of an earlier attempt is closed', async () => {
    const started = await open();
    const url = await create(started);
    await patch(url, 0, BYTES.subarray(0, 1000));
    await putBytes(started, BYTES);
    await complete(service, 'ann', started.asset_id);
    const retried = await call<Started>(service, `POST /media/${started.asset_id}/retry?expand=asset`, {
      headers: asUser('ann'),
    });
    expect((await patch(url, 1000, BYTES.subarray(1000))).status).toBe(401);
    await patch(await create({ ...retried.body.data, asset_id: started.asset_id }), 0, BYTES);
    await expectStored(started.asset_id, BYTES);
  });
});
