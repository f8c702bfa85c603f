// Concurrent PUTs of one upload: one writer, and stored bytes are never overwritten (contract B4).
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../service/src/platform/postgres/sql.ts';
import { expectRefusal, expectSuccess } from '../support/envelope.ts';
import { IMAGE, openUpload, readAsset, type Started } from '../support/media.ts';
import { openSocket, readAnswer } from '../support/raw-socket.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ UPLOAD_TTL_S: '3600' });
});
afterAll(() => service.stop());

const BYTES = Buffer.from('some bytes, which nobody looks at before complete');
const open = (wishes: object = {}) => openUpload(service, 'ann', { ...IMAGE, ...wishes });
const put = (url: string, bytes: Uint8Array = BYTES, headers: Record<string, string> = {}) =>
  call({ url: '' }, `PUT ${url}`, { headers, body: bytes });
const urlOf = ({ upload_url }: Started) => upload_url as string;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Files in the store, whole or half. */
async function filesOf(id: string): Promise<string[]> {
  const files = await readdir(join(service.dataDir, 'objects'), { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && (file.parentPath.includes(id) || file.parentPath.endsWith('incoming')))
    .map(({ name }) => name);
}

const expectNothingStored = (id: string) =>
  eventually(
    () => filesOf(id),
    (files) => files.length === 0,
    { withinMs: 20_000 },
  );

/** Waits until the service has recorded the writer. */
const writerOf = ({ asset_id: id }: Started) =>
  eventually(
    () =>
      service.parts.db.one(
        sql('test: writer of an upload', {
          id: 'uuid',
        })`select id from uploads where asset_id = ${id}`,
      ),
    (row) => row !== undefined,
  );

/** A PUT by hand: the head, then as many of the bytes as are given. */
async function begin(started: Started, headers: readonly string[], bytes: Uint8Array = Buffer.alloc(0)) {
  const { pathname, search } = new URL(urlOf(started));
  const socket = await openSocket(service.address);
  socket.write(
    [
      `PUT ${pathname}${search} HTTP/1.1`,
      'Host: mediary.test',
      'Connection: close',
      'Content-Type: image/png',
      ...headers,
      '',
      '',
    ].join('\r\n'),
  );
  socket.write(bytes);
  return socket;
}

describe('one writer', () => {
  test('the service answers 409 while another request writes, and that request continues', async () => {
    const started = await open();
    const first = await begin(started, [`Content-Length: ${BYTES.length}`], BYTES.subarray(0, 10));
    await writerOf(started);
    expect(expectRefusal(await put(urlOf(started), Buffer.from('another')), 409).details).toEqual({
      reason: 'upload_in_progress',
    });
    first.write(BYTES.subarray(10));
    expect(expectSuccess(await readAnswer(first))).toMatchObject({ checksum_sha256: sha256(BYTES) });
  });

  test('exactly one of many concurrent uploads is stored', async () => {
    const started = await open();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => put(urlOf(started), Buffer.alloc(2000, n))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await readAsset(service, 'ann', started.asset_id))['checksum_sha256']).toBe(
      sha256(Buffer.alloc(2000, winner)),
    );
  });

  test('stored bytes are never overwritten', async () => {
    const started = await open();
    expectSuccess(await put(urlOf(started)));
    expect(expectRefusal(await put(urlOf(started), Buffer.from('other')), 409).details).toEqual({
      reason: 'already_uploaded',
    });
    expect((await readAsset(service, 'ann', started.asset_id))['checksum_sha256']).toBe(sha256(BYTES));
  });

  test('a deleted asset accepts no bytes', async () => {
    const started = await open();
    expectSuccess(await call(service, `DELETE /media/${started.asset_id}`, { headers: asUser('ann') }));
    expectRefusal(await put(urlOf(started)), 404);
    await expectNothingStored(started.asset_id);
  });
});
