// Files that arrive as several partial uploads, which a final one joins (tus concatenation, contract B4).
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Adapters } from '../../../service/src/adapters.ts';
import { uploadKey } from '../../../service/src/storage/object-key.ts';
import { IMAGE, openUpload, putBytes, readAsset, type Started } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { concat, createPart, createParts, idOf, PARTS } from '../../support/uploads/tus-parts.ts';
import { BYTES, CHUNK, offsetOf, patch, patchChunked, send, tusUrl } from '../../support/uploads/tus.ts';
import { originalFiles } from '../../support/service/traces.ts';
import { uploadsOf } from '../../support/postgres/upload-rows.ts';
import { usageDrift } from '../../support/assets/usage.ts';

let service: TestService;
/** Runs before the bytes of a stored part are read. */
let beforeRead: (key: string) => void | Promise<void> = () => {};

const withWatchedReads = (adapters: Adapters): Adapters => ({
  ...adapters,
  store: {
    ...adapters.store,
    stream: (key, range) => {
      const read = async function* () {
        await beforeRead(key);
        yield* adapters.store.stream(key, range);
      };
      return Readable.from(read());
    },
  },
});

beforeAll(async () => {
  service = await startTestService({}, { wrapAdapters: withWatchedReads });
});
afterAll(() => service.stop());

const open = (owner: string, fields: object = {}) => openUpload(service, owner, { ...IMAGE, ...fields });
const locationOf = (started: Started, { headers }: Awaited<ReturnType<typeof send>>) =>
  new URL(headers.get('location') as string, tusUrl(started)).href;
type Bytes = { readonly used: number; readonly uploading: number };
async function expectUsage(owner: string, expected: Partial<Bytes>): Promise<void> {
  const usage = await call<{ bytes: Bytes }>(service, 'GET /usage', { headers: asUser(owner) });
  expect(usage.body.data.bytes).toMatchObject(expected);
}
const expectPending = async (owner: string, { asset_id: id }: Started) =>
  expect(await readAsset(service, owner, id)).toMatchObject({ stream_status: 'pending_upload' });

async function expectStored(owner: string, { asset_id: id }: Started): Promise<void> {
  expect(await readAsset(service, owner, id)).toMatchObject({
    size_bytes: BYTES.length,
    checksum_sha256: createHash('sha256').update(BYTES).digest('hex'),
  });
  // Nothing of the parts is left.
  await eventually(
    () => uploadsOf(service, id),
    (rows) => rows.length === 1 && rows[0]?.is_finished === true,
  );
  expect(await originalFiles(service.dataDir, id)).toHaveLength(1);
  expect((await partialFiles(id)).length).toBe(0);
}

const partialFiles = async (id: string) =>
  (await readdir(join(service.dataDir, 'objects', 'partial'))).filter((name) => name.startsWith(id));

describe('a file in parts', () => {
  test('becomes the original in the order that the final upload names', async () => {
    const started = await open('ann', { size_bytes: BYTES.length });
    const urls = await createParts(started);
    const [first = ''] = urls;
    const head = await send(`HEAD ${first}`);
    expect(head.headers.get('upload-concat')).toBe('partial');
    expect(head.headers.get('upload-offset')).toBe(String(PARTS[0]?.length));
    await expectUsage('ann', { uploading: BYTES.length });
    const completed = await call(service, `POST /media/${started.asset_id}/complete`, {
      headers: asUser('ann'),
    });
    expect(completed.body.error?.details).toMatchObject({ reason: 'not_uploaded' });
    await expectPending('ann', started);
    const answer = await concat(started, urls);
    expect(answer.status).toBe(201);
    await expectStored('ann', started);
    await expectUsage('ann', { used: BYTES.length, uploading: 0 });

    const url = locationOf(started, answer);
    const { headers } = await send(`HEAD ${url}`);
    const parts = urls.map((part) => new URL(part).pathname).join(' ');
    expect(headers.get('upload-concat')).toBe(`final;${parts}`);
    expect(headers.get('upload-length')).toBe(String(BYTES.length));
    expect(headers.get('upload-offset')).toBe(String(BYTES.length));
    expect(await patch(url, BYTES.length, BYTES)).toMatchObject({ status: 403, reason: 'final_upload' });
    const again = await concat(started, urls);
    expect([again.status, locationOf(started, again)]).toEqual([201, url]);
    expect(await send(`DELETE ${url}`)).toMatchObject({ status: 409, reason: 'already_uploaded' });
  });

  test('may have empty parts, bytes in the creation, relative URLs, and no announced size', async () => {
    const started = await open('bea');
    const urls = await createParts(started, [BYTES.subarray(0, 10), Buffer.alloc(0)]);
    const rest = BYTES.subarray(10);
    const created = await send(
      `POST ${tusUrl(started)}`,
      { ...CHUNK, 'upload-concat': 'partial', 'upload-length': String(rest.length) },
      rest,
    );
    expect(created).toMatchObject({ status: 201 });
    const relative = [...urls.map((url) => `tus/${idOf(url)}`), created.headers.get('location') as string];
    expect(await concat(started, relative)).toMatchObject({ status: 201 });
    await expectStored('bea', started);
  });

  test('may go on with a part that the final upload named too early', async () => {
    const other = await open('joe');
    const [whole, begun] = [
      await createPart(other, BYTES.subarray(0, 10)),
      await createPart(other, BYTES.subarray(10), 100),
    ];
    expect(await concat(other, [whole, begun])).toMatchObject({ status: 400, reason: 'partial_incomplete' });
    expect(await patch(begun, await offsetOf(begun), BYTES.subarray(110))).toMatchObject({ status: 204 });
    expect(await patchChunked(begun, BYTES.length - 10, BYTES)).toMatchObject({ status: 204 });
    expect(await concat(other, [whole, begun])).toMatchObject({ status: 201 });
    await expectStored('joe', other);
  });

  test('is joined once by several requests at the same time', async () => {
    const started = await open('cleo', { size_bytes: BYTES.length });
    const urls = await createParts(started);
    const answers = await Promise.all([1, 2, 3].map(() => concat(started, urls)));
    expect(answers.map(({ status }) => status)).toContain(201);
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(await concat(started, urls)).toMatchObject({ status: 201 });
    await expectStored('cleo', started);
  });
});

describe('an interrupted final upload', () => {
  /** Leaves what a process leaves that ends after it has joined the first part and some of the second one. */
  async function interrupt(owner: string) {
    const started = await open(owner, { size_bytes: BYTES.length });
    const urls = await createParts(started);
    const second = uploadKey(started.asset_id, idOf(urls[1] as string));
    beforeRead = (key) => {
      if (key === second) throw new Error('test: the process ends');
    };
    expect(await concat(started, urls)).toMatchObject({ status: 503 });
    beforeRead = () => {};
    await expectPending(owner, started);
    await expectUsage(owner, { uploading: BYTES.length });
    const rows = await uploadsOf(service, started.asset_id);
    expect(rows).toHaveLength(3);
    return { started, urls, url: tusUrl(started).replace('/tus?', `/tus/${rows.at(-1)?.id}?`) };
  }

  test('is continued by the repeated request, while HEAD shows no offset', async () => {
    const { started, urls, url } = await interrupt('dan');
    const { headers, status } = await send(`HEAD ${url}`);
    expect([status, headers.get('upload-offset')]).toEqual([200, null]);
    expect(headers.get('upload-length')).toBe(String(BYTES.length));
    expect(await concat(started, urls)).toMatchObject({ status: 201 });
    await expectStored('dan', started);
  });

  test('is continued by a job', async () => {
    const { started } = await interrupt('eve');
    const { db, jobs } = service.adapters;
    await db.transaction((tx) => jobs.send(tx, 'expire-uploads', {}));
    await eventually(
      () => readAsset(service, 'eve', started.asset_id),
      ({ uploaded_at: at }) => at !== null,
    );
    await expectStored('eve', started);
  });

  test('ends with its parts when it is terminated', async () => {
    const { started, urls, url } = await interrupt('fay');
    expect(await send(`DELETE ${url}`)).toMatchObject({ status: 204 });
    expect(await send(`HEAD ${url}`)).toMatchObject({ status: 404 });
    for (const part of urls.slice(1)) expect(await send(`DELETE ${part}`)).toMatchObject({ status: 204 });
    await expectUsage('fay', { uploading: 0 });
    expect([
      ...(await partialFiles(started.asset_id)),
      ...(await originalFiles(service.dataDir, started.asset_id)),
    ]).toEqual([]);
  });

  test('ends when one of its parts was deleted', async () => {
    const { started, urls } = await interrupt('gus');
    expect(await send(`DELETE ${urls[2]}`)).toMatchObject({ status: 204 });
    expect(await concat(started, urls)).toMatchObject({ status: 404 });
    expect(await putBytes(started, BYTES)).toMatchObject({ status: 200 });
  });
});

test('counters equal a recount after all of these', async () => {
  expect(await usageDrift(service.dataDir)).toEqual([]);
});
