// Requests of resumable uploads that are refused, and what web pages may read (contract B4).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IMAGE, openUpload } from '../../support/media.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import {
  BYTES,
  CHUNK,
  create,
  offsetOf,
  patch,
  patchChunked,
  send,
  TUS,
  tusUrl,
} from '../../support/uploads/tus.ts';
import { originalFiles } from '../../support/service/traces.ts';

const ORIGIN = 'https://app.example.com';
let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    MEDIARY_ROLE: 'api',
    CORS_ORIGINS: ORIGIN,
    MAX_UPLOAD_BYTES: String(64 * 1024 * 1024),
  });
});
afterAll(() => service.stop());

const open = (fields: object = {}) => openUpload(service, 'ann', { ...IMAGE, ...fields });

const originals = (id: string) => originalFiles(service.dataDir, id);

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

  test.each([
    ['is no UUID', 'abc'],
    ['does not exist', randomUUID()],
  ])('for an upload whose id %s finds nothing', async (_what, id) => {
    const url = tusUrl(await open()).replace('/tus?', `/tus/${id}?`);
    expect((await send(`HEAD ${url}`)).status).toBe(404);
    expect((await patch(url, 0, BYTES)).status).toBe(404);
    expect((await send(`DELETE ${url}`)).status).toBe(404);
  });

  test('that asks for the bytes finds no route', async () => {
    const url = await create(await open());
    expect((await send(`GET ${url}`)).status).toBe(404);
  });

  test.each([[{}], [{ 'tus-resumable': '0.2.2' }]])('of another version is refused: %j', async (headers) => {
    const started = await open();
    const url = await create(started);
    for (const line of [`HEAD ${url}`, `PATCH ${url}`, `DELETE ${url}`, `POST ${tusUrl(started)}`]) {
      const refused = await send(line, headers);
      expect([refused.status, refused.headers.get('tus-version')], line).toEqual([412, '1.0.0']);
    }
  });

  test.each([
    ['over the maximum', {}, [64 * 1024 * 1024 + 1, 413]],
    ['of another length than announced', { size_bytes: 10 }, [11, 400]],
    ['of no bytes', {}, [0, 400]],
  ])('for an upload %s is refused', async (_what, fields, [length, status]) => {
    const started = await open(fields);
    const created = await send(`POST ${tusUrl(started)}`, { ...TUS, 'upload-length': String(length) });
    expect(created.status).toBe(status);
  });

  test('may repeat the length that an earlier one announced, but not change it', async () => {
    const url = await create(await open(), 'later');
    const patchWith = (length: number, offset: number, bytes: Uint8Array) =>
      send(
        `PATCH ${url}`,
        { ...CHUNK, 'upload-offset': String(offset), 'upload-length': String(length) },
        bytes,
      );
    expect((await patchWith(1000, 0, BYTES.subarray(0, 500))).status).toBe(204);
    for (const length of [999, 1001])
      expect((await patchWith(length, 500, BYTES.subarray(500, 1000))).status).toBe(400);
    expect(await offsetOf(url)).toBe(500);
    expect((await patchWith(1000, 500, BYTES.subarray(500, 1000))).status).toBe(204);
  });

  test.each([
    ['the upload', {}, 1000],
    ['the asset', { size_bytes: 1000 }, 'later'],
    ['both', { size_bytes: 1000 }, 1000],
  ] as const)('with more bytes than announced of %s is refused', async (_what, fields, length) => {
    const started = await open(fields);
    for (const patchWith of [patch, patchChunked]) {
      const url = await create(started, length);
      expect((await patchWith(url, 0, BYTES.subarray(0, 1001))).status).toBe(413);
    }
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
      'concatenation',
    ]);
  });
});
