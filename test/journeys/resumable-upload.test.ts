// Uploads that go on after a broken connection: tus 1.0.0, with a real client and by hand (contract B4).
import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Upload } from 'tus-js-client';
import { complete, IMAGE, openUpload, putBytes, readAsset, type Started } from '../support/media.ts';
import { openSocket } from '../support/raw-socket.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../support/service.ts';

const ORIGIN = 'https://app.example.com';
let service: TestService;
let minutesLater = 0;
beforeAll(async () => {
  service = await startTestService(
    { UPLOAD_TTL_S: '3600', CORS_ORIGINS: ORIGIN, MAX_UPLOAD_BYTES: String(64 * 1024 * 1024) },
    { now: () => new Date(Date.now() + minutesLater * 60_000) },
  );
});
afterAll(() => service.stop());

const BYTES = randomBytes(3_000_000);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const TUS = { 'tus-resumable': '1.0.0' };
const CHUNK = { ...TUS, 'content-type': 'application/offset+octet-stream' };

type Target = { readonly protocol: string; readonly url: string };
const targetsOf = (started: Started) =>
  [started.upload, ...(started as unknown as { alternatives: Target[] }).alternatives] as Target[];
const tusUrl = (started: Started) =>
  targetsOf(started).find(({ protocol }) => protocol === 'tus')?.url as string;

const open = (wishes: object = {}) => openUpload(service, 'ann', { ...IMAGE, ...wishes });

type Reply = { readonly status: number; readonly headers: Headers; readonly reason: unknown };

async function send(request: string, headers: Record<string, string> = TUS, body?: Uint8Array) {
  const [method, url] = request.split(' ') as [string, string];
  const response = await fetch(url, { method, headers, ...(body && { body: body as unknown as string }) });
  const text = await response.text();
  const reason = text && JSON.parse(text).error?.details?.reason;
  return { status: response.status, headers: response.headers, reason } satisfies Reply;
}

/** The URL of a new upload. */
async function create(started: Started, length: number | undefined = BYTES.length): Promise<string> {
  const { status, headers } = await send(`POST ${tusUrl(started)}`, {
    ...TUS,
    ...(length === undefined ? { 'upload-defer-length': '1' } : { 'upload-length': String(length) }),
  });
  expect(status).toBe(201);
  return new URL(headers.get('location') as string, tusUrl(started)).href;
}

const patch = (url: string, offset: number, bytes: Uint8Array) =>
  send(`PATCH ${url}`, { ...CHUNK, 'upload-offset': String(offset) }, bytes);
const offsetOf = async (url: string) => Number((await send(`HEAD ${url}`)).headers.get('upload-offset'));

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
const originals = async (id: string) =>
  (
    await readdir(join(service.dataDir, 'objects', 'objects'), { recursive: true, withFileTypes: true })
  ).filter((file) => file.isFile() && file.parentPath.includes(id));

describe('a tus client', () => {
  test.each([
    ['in chunks that fit no boundary', { chunkSize: 700_001 }],
    ['in one request', {}],
    ['with the first bytes in the creation', { uploadDataDuringCreation: true, chunkSize: 1_000_000 }],
    ['with a length that it learns later', { uploadLengthDeferred: true, chunkSize: 1_000_000 }],
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
      const socket = await openSocket(service.address);
      const { pathname, search } = new URL(url);
      socket.write(
        [
          `PATCH ${pathname}${search} HTTP/1.1`,
          'Host: mediary.test',
          'Tus-Resumable: 1.0.0',
          'Content-Type: application/offset+octet-stream',
          `Upload-Offset: ${stored}`,
          `Content-Length: ${BYTES.length - stored}`,
          '\r\n',
        ].join('\r\n'),
      );
      await new Promise((written) => {
        socket.write(BYTES.subarray(stored, stored + part), written);
      });
      // It neither closes the connection nor sends more: the service cannot know that the client is gone.
      const startedAt = performance.now();
      const offset = await eventually(
        () => offsetOf(url),
        (seen) => seen >= stored + 1,
        { withinMs: 10_000 },
      );
      expect(performance.now() - startedAt).toBeLessThan(5000);
      expect(offset).toBeLessThanOrEqual(stored + part);
      stored = offset;
      socket.destroy();
    }
    const last = await patch(url, stored, BYTES.subarray(stored));
    expect(last).toMatchObject({ status: 204 });
    expect(last.headers.get('upload-offset')).toBe(String(BYTES.length));
    await expectStored(started.asset_id, BYTES);
  });
});

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

  test('finishes as a PUT does: it can be completed, once', async () => {
    const started = await open();
    const url = await create(started);
    await patch(url, 0, BYTES);
    expect((await patch(url, BYTES.length, Buffer.alloc(0))).status).toBe(204);
    expect(await offsetOf(url)).toBe(BYTES.length);
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
      { withinMs: 20_000 },
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

  test('that is finished cannot be terminated', async () => {
    const started = await open();
    const url = await create(started);
    await patch(url, 0, BYTES);
    expect(await send(`DELETE ${url}`)).toMatchObject({ status: 409, reason: 'already_uploaded' });
    await expectStored(started.asset_id, BYTES);
  });

  test('lives as long as bytes arrive, and an hour longer', async () => {
    const started = await open();
    const url = await create(started);
    try {
      minutesLater = 50;
      expect((await patch(url, 0, BYTES.subarray(0, 1000))).status).toBe(204);
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
    const retried = await call<Started>(service, `POST /media/${started.asset_id}/retry`, {
      headers: asUser('ann'),
    });
    expect((await patch(url, 1000, BYTES.subarray(1000))).status).toBe(401);
    await patch(await create({ ...retried.body.data, asset_id: started.asset_id }), 0, BYTES);
    await expectStored(started.asset_id, BYTES);
  });
});

describe('a request', () => {
  test('needs the ticket of its own asset', async () => {
    const [started, other] = [await open(), await open()];
    const url = await create(started);
    const without = url.split('?')[0] as string;
    const ticketOfOther = new URL(tusUrl(other)).search;
    for (const bad of [without, `${without}?ticket=x`, `${without}${ticketOfOther}`]) {
      expect((await patch(bad, 0, BYTES)).status).toBe(401);
      expect((await send(`HEAD ${bad}`)).status).toBe(401);
      expect((await send(`DELETE ${bad}`)).status).toBe(401);
    }
    const foreign = url.replace(started.asset_id, other.asset_id).replace(/\?.*/, ticketOfOther);
    expect((await patch(foreign, 0, BYTES)).status).toBe(404);
    expect(await offsetOf(url)).toBe(0);
  });

  test('that asks for the bytes finds no route', async () => {
    const url = await create(await open());
    expect((await send(`GET ${url}`)).status).toBe(404);
  });

  test('without the version of the protocol is refused', async () => {
    const url = await create(await open());
    expect((await send(`HEAD ${url}`, {})).status).toBe(412);
  });

  test.each([
    ['over the maximum', {}, [64 * 1024 * 1024 + 1, 413]],
    ['of another length than announced', { size_bytes: 10 }, [11, 400]],
    ['of no bytes', {}, [0, 400]],
  ])('for an upload %s is refused', async (_what, wishes, [length, status]) => {
    const started = await open(wishes);
    const created = await send(`POST ${tusUrl(started)}`, { ...TUS, 'upload-length': String(length) });
    expect(created.status).toBe(status);
  });

  test('with more bytes than announced is refused', async () => {
    const started = await open();
    const url = await create(started, 1000);
    expect((await patch(url, 0, BYTES.subarray(0, 1001))).status).toBe(413);
    expect(await originals(started.asset_id)).toEqual([]);
  });

  test('of a web page may read its headers, also those of an error', async () => {
    const started = await open();
    const url = await create(started);
    const cross = { ...TUS, origin: ORIGIN };
    for (const reply of [
      await send(`OPTIONS ${tusUrl(started)}`, cross),
      await send(`HEAD ${url}`, cross),
      await send(`PATCH ${url}`, { ...CHUNK, origin: ORIGIN, 'upload-offset': '7' }, BYTES),
    ]) {
      expect(reply.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(reply.headers.get('access-control-expose-headers')).toMatch(/Location.*Upload-Offset/);
      expect(reply.headers.get('tus-resumable')).toBe('1.0.0');
    }
    const preflight = await send(`OPTIONS ${url}`, {
      origin: ORIGIN,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'tus-resumable,upload-offset,content-type',
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH');
  });

  test('for the options lists version, extensions and maximum', async () => {
    const { status, headers } = await send(`OPTIONS ${tusUrl(await open())}`, {});
    expect(status).toBe(204);
    expect(headers.get('tus-version')).toBe('1.0.0');
    expect(headers.get('tus-max-size')).toBe(String(64 * 1024 * 1024));
    expect(headers.get('tus-extension')?.split(',')).toEqual([
      'creation',
      'creation-with-upload',
      'creation-defer-length',
      'expiration',
      'termination',
    ]);
  });
});
