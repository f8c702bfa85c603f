// Files that arrive as several partial uploads and are joined by a final one (tus concatenation, contract B4).
import { createHash, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Adapters } from '../../service/src/adapters.ts';
import { sql } from '../../service/src/platform/postgres/sql.ts';
import { uploadKey } from '../../service/src/storage/object-key.ts';
import { IMAGE, openUpload, putBytes, readAsset, type Started } from '../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../support/service.ts';
import { BYTES, CHUNK, create, offsetOf, patch, patchChunked, send, TUS, tusUrl } from '../support/tus.ts';
import { originalFiles } from '../support/traces.ts';
import { uploadsOf } from '../support/upload-rows.ts';
import { usageDrift } from '../support/usage.ts';

const LIMIT = 8_000_000;
const THIRDS = [
  BYTES.subarray(0, 1_000_000),
  BYTES.subarray(1_000_000, 1_700_000),
  BYTES.subarray(1_700_000),
];

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
  service = await startTestService(
    { MAX_UPLOAD_BYTES: String(LIMIT), OWNER_MAX_BYTES: String(LIMIT) },
    { wrapAdapters: withWatchedReads },
  );
});
afterAll(() => service.stop());

const open = (owner: string, fields: object = {}) => openUpload(service, owner, { ...IMAGE, ...fields });
const idOf = (url: string): string => new URL(url).pathname.split('/').at(-1) as string;

async function createPart(started: Started, bytes: Uint8Array, sent = bytes.length): Promise<string> {
  const headers = { ...TUS, 'upload-concat': 'partial', 'upload-length': String(bytes.length) };
  const created = await send(`POST ${tusUrl(started)}`, headers);
  expect(created.status).toBe(201);
  const url = new URL(created.headers.get('location') as string, tusUrl(started)).href;
  if (sent > 0) expect(await patch(url, 0, bytes.subarray(0, sent))).toMatchObject({ status: 204 });
  return url;
}

/** Parts arrive in any order. */
async function createParts(started: Started, parts: readonly Uint8Array[] = THIRDS): Promise<string[]> {
  const urls = await Promise.all(parts.toReversed().map((bytes) => createPart(started, bytes)));
  return urls.toReversed();
}

const finalOf = (urls: readonly string[]) => ({ ...TUS, 'upload-concat': `final;${urls.join(' ')}` });
const concat = (started: Started, urls: readonly string[], headers: Record<string, string> = {}) =>
  send(`POST ${tusUrl(started)}`, { ...finalOf(urls), ...headers });
const locationOf = (started: Started, { headers }: Awaited<ReturnType<typeof send>>) =>
  new URL(headers.get('location') as string, tusUrl(started)).href;
const usageOf = async (owner: string) =>
  (
    await call<{ bytes: { used: number; uploading: number } }>(service, 'GET /usage', {
      headers: asUser(owner),
    })
  ).body.data.bytes;

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
    expect(head.headers.get('upload-offset')).toBe(String(THIRDS[0]?.length));
    expect(await usageOf('ann')).toEqual(expect.objectContaining({ uploading: BYTES.length }));
    expect(
      await call(service, `POST /media/${started.asset_id}/complete`, { headers: asUser('ann') }),
    ).toMatchObject({
      status: 400,
      body: { error: { details: { reason: 'not_uploaded' } } },
    });
    expect(await readAsset(service, 'ann', started.asset_id)).toMatchObject({
      stream_status: 'pending_upload',
    });
    const answer = await concat(started, urls);
    expect(answer.status).toBe(201);
    await expectStored('ann', started);
    expect(await usageOf('ann')).toEqual(expect.objectContaining({ used: BYTES.length, uploading: 0 }));

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
    expect(await originalFiles(service.dataDir, started.asset_id)).not.toContain(started.asset_id);
    expect(await readAsset(service, owner, started.asset_id)).toMatchObject({
      stream_status: 'pending_upload',
    });
    expect(await usageOf(owner)).toEqual(expect.objectContaining({ uploading: BYTES.length }));
    return { started, urls };
  }

  test('is continued by the repeated request, while HEAD shows no offset', async () => {
    const { started, urls } = await interrupt('dan');
    const rows = await uploadsOf(service, started.asset_id);
    expect(rows).toHaveLength(3);
    const { headers, status } = await send(
      `HEAD ${tusUrl(started).replace('/tus?', `/tus/${rows.at(-1)?.id}?`)}`,
    );
    expect([status, headers.get('upload-length'), headers.get('upload-offset')]).toEqual([
      200,
      String(BYTES.length),
      null,
    ]);
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
    const { started, urls } = await interrupt('fay');
    const final = (await uploadsOf(service, started.asset_id)).at(-1)?.id as string;
    const url = tusUrl(started).replace('/tus?', `/tus/${final}?`);
    expect(await send(`DELETE ${url}`)).toMatchObject({ status: 204 });
    expect(await send(`HEAD ${url}`)).toMatchObject({ status: 404 });
    for (const part of urls.slice(1)) expect(await send(`DELETE ${part}`)).toMatchObject({ status: 204 });
    expect(await usageOf('fay')).toEqual(expect.objectContaining({ uploading: 0 }));
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

describe('a request is refused', () => {
  let started: Started;
  let urls: string[];
  beforeAll(async () => {
    started = await open('hal', { size_bytes: BYTES.length });
    urls = await createParts(started);
  });

  test.each([
    ['has a length', () => [urls, { 'upload-length': '3000000' }] as const, 'invalid_value'],
    ['names no part', () => [[]] as const, 'invalid_value'],
    ['names a part twice', () => [[urls[0], urls[0]]] as const, 'invalid_value'],
    ['names another page', () => [['https://example.com/file']] as const, 'invalid_value'],
    ['names an unknown part', () => [[urls[0], `tus/${randomUUID()}`]] as const, 'unknown_partial'],
    [
      'names more than 16 parts',
      () => [Array.from({ length: 17 }, () => `tus/${randomUUID()}`)] as const,
      'above_maximum',
    ],
    ['names too few bytes', () => [urls.slice(1)] as const, undefined],
  ])('that %s', async (_what, build, reason) => {
    const [named, headers] = build() as readonly [string[], Record<string, string>?];
    const answer = await concat(started, named, headers);
    expect([answer.status, answer.reason ?? 'invalid_value']).toEqual([400, reason ?? 'invalid_value']);
  });

  test('that is of another kind', async () => {
    const value = { ...TUS, 'upload-concat': 'whole', 'upload-length': '10' };
    expect(await send(`POST ${tusUrl(started)}`, value)).toMatchObject({
      status: 400,
      reason: 'invalid_value',
    });
  });

  test('that names parts of another asset or owner, or a whole upload', async () => {
    for (const owner of ['hal', 'ida']) {
      const [foreign = ''] = await createParts(await open(owner), [THIRDS[0] as Uint8Array]);
      for (const named of [foreign, `tus/${idOf(foreign)}`])
        expect(await concat(started, [named, ...urls.slice(1)])).toMatchObject({
          status: 400,
          reason: 'unknown_partial',
        });
    }
    const whole = await create(started);
    expect(await concat(started, [whole])).toMatchObject({ status: 400, reason: 'unknown_partial' });
  });

  test('that names an incomplete part, which can go on', async () => {
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

  test('that needs a valid ticket and a body of the parts alone', async () => {
    const url = tusUrl(started);
    expect(await send(`POST ${url.split('?')[0]}`, finalOf(urls))).toMatchObject({ status: 401 });
    expect(await send(`POST ${url}`, { ...CHUNK, ...finalOf(urls) }, BYTES)).toMatchObject({ status: 400 });
  });
});

describe('parts are limited', () => {
  const tryPart = (started: Started, length: number) =>
    send(`POST ${tusUrl(started)}`, { ...TUS, 'upload-concat': 'partial', 'upload-length': String(length) });

  test('to the size of the file, to a known length, to 16, and to three files in all', async () => {
    const started = await open('kim', { size_bytes: 1000 });
    expect(await tryPart(started, 1001)).toMatchObject({ status: 413 });
    const deferred = { ...TUS, 'upload-concat': 'partial', 'upload-defer-length': '1' };
    expect(await send(`POST ${tusUrl(started)}`, deferred)).toMatchObject({
      status: 400,
      reason: 'required',
    });
    for (let count = 1; count <= 3; count += 1)
      expect(await tryPart(started, 1000)).toMatchObject({ status: 201 });
    expect(await tryPart(started, 1)).toMatchObject({ status: 413 });
    const many = await open('kim', { size_bytes: 1000 });
    for (let count = 1; count <= 16; count += 1)
      expect(await tryPart(many, 10)).toMatchObject({ status: 201 });
    expect(await tryPart(many, 10)).toMatchObject({ status: 400, reason: 'above_maximum' });
    expect(await putBytes(many, BYTES.subarray(0, 1000))).toMatchObject({ status: 200 });
  });

  test('together to the maximum of an upload', async () => {
    const started = await open('lea');
    const half = Buffer.alloc(LIMIT / 4 + 1);
    const parts = await createParts(started, [half, half, half]);
    const last = await createPart(started, Buffer.alloc(1_900_000));
    // The quota of the owner has no room for more: the parts are removed, not joined.
    expect(await concat(started, [...parts, last])).toMatchObject({ status: 400, reason: 'quota_exceeded' });
    expect(await send(`DELETE ${last}`)).toMatchObject({ status: 204 });
  });

  test('to the quota of the owner, which counts a part twice while it is joined', async () => {
    const started = await open('max');
    const parts = [Buffer.alloc(3_000_000, 1), Buffer.alloc(3_000_000, 2)];
    const urls = await createParts(started, parts);
    expect(await usageOf('max')).toEqual(expect.objectContaining({ used: 6_000_000 }));
    const refused = await concat(started, urls);
    expect(refused).toMatchObject({ status: 400, reason: 'quota_exceeded' });
    expect(await usageOf('max')).toEqual(expect.objectContaining({ used: 6_000_000 }));
    await service.adapters.db.one(sql('test: raise the quota')`
      update owner_usage set overrides = '{"bytes": 9000000}' where owner_user_id = 'max'`);
    expect(await concat(started, urls)).toMatchObject({ status: 201 });
    expect(await usageOf('max')).toEqual(expect.objectContaining({ used: 6_000_000, uploading: 0 }));
  });

  test('to the lifetime of an upload', async () => {
    const started = await open('nia');
    const [url = ''] = await createParts(started, [THIRDS[0] as Uint8Array]);
    const { db, jobs } = service.adapters;
    await db.one(sql('test: expire a part')`
      update uploads set expires_at = now() - interval '1 s' where id = ${idOf(url)}`);
    expect(await concat(started, [url])).toMatchObject({ status: 400, reason: 'unknown_partial' });
    await db.transaction((tx) => jobs.send(tx, 'expire-uploads', {}));
    await eventually(
      () => uploadsOf(service, started.asset_id),
      (rows) => rows.length === 0,
    );
    expect(await partialFiles(started.asset_id)).toEqual([]);
  });
});

test('counters equal a recount after all of these', async () => {
  expect(await usageDrift(service.dataDir)).toEqual([]);
});
