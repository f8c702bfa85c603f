// Bytes of open uploads and of captions count in the usage of their owner, and no upload stays open for ever.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type FileServer, startFileServer } from '../../support/http/file-server.ts';
import { IMAGE, openUpload, type Started, VIDEO } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';
import { BYTES, CHUNK, create, offsetOf, patch, patchChunked, send, TUS } from '../../support/uploads/tus.ts';
import { usageDrift } from '../../support/assets/usage.ts';

const LIMIT = 1_000_000;
const HOUR_S = 3600;

let service: TestService;
let server: FileServer;
beforeAll(async () => {
  server = await startFileServer();
  service = await startTestService({
    OWNER_MAX_BYTES: String(LIMIT),
    UPLOAD_TTL_S: String(HOUR_S),
    UPLOAD_MAX_AGE_S: String(HOUR_S),
    OUTBOUND_ALLOW_PRIVATE: 'import',
  });
});
afterAll(async () => {
  await service?.stop();
  await server?.stop();
});

type Bytes = { readonly used: number; readonly uploading: number };
async function bytesOf(owner: string): Promise<Bytes> {
  const usage = await call<{ bytes: Bytes }>(service, 'GET /usage', { headers: asUser(owner) });
  const { used, uploading } = usage.body.data.bytes;
  return { used, uploading };
}

async function storedBytes(started: readonly Started[]): Promise<number> {
  let total = 0;
  for (const { asset_id: id } of started)
    for (const path of await filesNaming(join(service.dataDir, 'objects'), id))
      total += (await stat(path)).size;
  return total;
}

describe('a resumable upload without a length', () => {
  test('counts what it has received, and is refused beyond the limit with nothing kept', async () => {
    const first = await openUpload(service, 'ann', IMAGE);
    const second = await openUpload(service, 'ann', IMAGE);
    const url = await create(first, 'later');
    expect(await patch(url, 0, BYTES.subarray(0, 600_000))).toMatchObject({ status: 204 });
    expect(await bytesOf('ann')).toEqual({ used: 600_000, uploading: 600_000 });
    const other = await create(second, 'later');
    for (const sendBytes of [patch, patchChunked])
      expect(await sendBytes(other, 0, BYTES.subarray(0, 400_001))).toMatchObject({
        status: 400,
        reason: 'quota_exceeded',
      });
    expect(await storedBytes([first, second])).toBeLessThanOrEqual(LIMIT);
    expect(await patch(other, await offsetOf(other), Buffer.alloc(1))).toMatchObject({ status: 400 });
  });

  test('is counted once when it finishes', async () => {
    const started = await openUpload(service, 'bea', IMAGE);
    const url = await create(started, 'later');
    await patch(url, 0, BYTES.subarray(0, 600_000));
    const headers = { ...CHUNK, 'upload-offset': '600000', 'upload-length': '600001' };
    expect(await send(`PATCH ${url}`, headers, Buffer.alloc(1))).toMatchObject({ status: 204 });
    expect(await bytesOf('bea')).toEqual({ used: 600_001, uploading: 0 });
  });

  test('counts no more when it is terminated', async () => {
    const url = await create(await openUpload(service, 'cleo', IMAGE), 'later');
    await patch(url, 0, BYTES.subarray(0, 600_000));
    expect(await send(`DELETE ${url}`, TUS)).toMatchObject({ status: 204 });
    expect(await bytesOf('cleo')).toEqual({ used: 0, uploading: 0 });
  });

  test('never exceeds the limit together with others that run at the same time', async () => {
    const started = await Promise.all([1, 2, 3, 4].map(() => openUpload(service, 'dan', IMAGE)));
    const urls = await Promise.all(started.map((one) => create(one, 'later')));
    const answers = await Promise.all(urls.map((url) => patchChunked(url, 0, BYTES.subarray(0, 400_000))));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(2);
    expect(answers.filter(({ reason }) => reason === 'quota_exceeded')).toHaveLength(2);
    // A request that is refused in the middle keeps and counts what arrived before.
    const { used, uploading } = await bytesOf('dan');
    expect(used).toBe(uploading);
    expect(used).toBeGreaterThanOrEqual(800_000);
    expect(used).toBeLessThanOrEqual(LIMIT);
    expect(await storedBytes(started)).toBeLessThanOrEqual(LIMIT);
  });
});

describe('an upload whose size was announced', () => {
  test('is covered by what its asset reserved', async () => {
    const url = await create(await openUpload(service, 'eve', { ...IMAGE, size_bytes: 900_000 }), 'later');
    expect(await patch(url, 0, BYTES.subarray(0, 500_000))).toMatchObject({ status: 204 });
    expect(await bytesOf('eve')).toEqual({ used: 900_000, uploading: 500_000 });
  });

  test('replaces an earlier one of its asset that no request writes, if both exceed the limit', async () => {
    const started = await openUpload(service, 'fay', { ...IMAGE, size_bytes: 900_000 });
    await patch(await create(started, 900_000), 0, BYTES.subarray(0, 500_000));
    const url = await create(started, 900_000);
    expect(await patch(url, 0, BYTES.subarray(0, 900_000))).toMatchObject({ status: 204 });
    expect(await bytesOf('fay')).toEqual({ used: 900_000, uploading: 0 });
  });
});

describe('bytes that a process receives', () => {
  test('in a PUT count before it ends, and end it at the limit', async () => {
    const started = await openUpload(service, 'gus', IMAGE);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    async function* body() {
      yield BYTES.subarray(0, 600_000);
      await released;
      while (true) yield Buffer.alloc(1000);
    }
    const answer = fetch(
      started.upload_url as string,
      {
        method: 'PUT',
        headers: { 'content-type': 'image/png' },
        body: body(),
        duplex: 'half',
      } as RequestInit,
    );
    await eventually(
      () => bytesOf('gus'),
      ({ uploading }) => uploading === 600_000,
    );
    const other = await openUpload(service, 'gus', IMAGE);
    const url = await create(other, 'later');
    expect(await patch(url, 0, BYTES.subarray(0, 400_001))).toMatchObject({ reason: 'quota_exceeded' });
    release();
    const { status } = await answer;
    expect(status).toBe(400);
    expect(await bytesOf('gus')).toEqual({ used: 0, uploading: 0 });
  });

  test('in an import count before it ends', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const url = server.serve('/slow.png', async (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      response.write(Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), BYTES.subarray(0, 299_992)]));
      await released;
      response.end();
    });
    expectSuccess(await call(service, 'POST /media/import', { headers: asUser('hal'), json: { url } }));
    await eventually(
      () => bytesOf('hal'),
      ({ used, uploading }) => used === 300_000 && uploading === 300_000,
    );
    release();
    await eventually(
      () => bytesOf('hal'),
      ({ uploading }) => uploading === 0,
    );
  });
});

test('bytes that keep arriving do not keep an upload open beyond UPLOAD_MAX_AGE_S', async () => {
  const url = await create(await openUpload(service, 'ida', IMAGE), 'later');
  const id = new URL(url).pathname.split('/').at(-1) as string;
  const { db, jobs } = service.adapters;
  const age = (seconds: number) =>
    db.one(sql('test: age an upload')`
      update uploads set created_at = now() - make_interval(secs => ${seconds}), expires_at = now() + '1 s'
       where id = ${id}`);
  await age(HOUR_S - 600);
  const { headers } = await patch(url, 0, BYTES.subarray(0, 10));
  const expires = Date.parse(headers.get('upload-expires') ?? '');
  expect(expires - Date.now()).toBeGreaterThan(500_000);
  expect(expires - Date.now()).toBeLessThanOrEqual(601_000);
  await age(HOUR_S);
  await patch(url, 10, BYTES.subarray(0, 10));
  expect(await send(`HEAD ${url}`)).toMatchObject({ status: 404 });
  await db.transaction((tx) => jobs.send(tx, 'expire-uploads', {}));
  await eventually(
    () => bytesOf('ida'),
    ({ uploading }) => uploading === 0,
  );
});

test('captions count, and are refused beyond the limit', async () => {
  const { asset_id: id } = await openUpload(service, 'joe', { ...VIDEO, size_bytes: 900_000 });
  const put = (language: string, cues: number) =>
    call(service, `PUT /media/${id}/captions/${language}`, {
      headers: { ...asUser('joe'), 'content-type': 'text/vtt' },
      body: `WEBVTT\n\n${`00:00.500 --> 00:01.500\n${'a'.repeat(10_000)}\n\n`.repeat(cues)}`,
    });
  const { size_bytes: size } = expectSuccess(await put('en', 5)) as { size_bytes: number };
  expect((await bytesOf('joe')).used).toBe(900_000 + size);
  expect(expectRefusal(await put('de', 6), 400).details).toMatchObject({
    reason: 'quota_exceeded',
    field: 'bytes',
    used: 900_000 + size,
  });
  const files = await filesNaming(join(service.dataDir, 'objects'), id);
  expect(files).toHaveLength(1);
  expectSuccess(await call(service, `DELETE /media/${id}/captions/en`, { headers: asUser('joe') }));
  expect((await bytesOf('joe')).used).toBe(900_000);
});

test('counters equal a recount after all of these', async () => {
  expect(await usageDrift(service.dataDir)).toEqual([]);
});
