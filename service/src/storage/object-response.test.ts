// Tests the bytes of responses: buffers are reused only after a response was sent; and encrypted ones.
import { EventEmitter } from 'node:events';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStorageContext } from './context.fixture.ts';
import { openDiskObjectStore } from './disk-object-store.ts';
import { createObjectCache } from './object-cache.ts';
import { sendEncryptedObject, sendObject } from './object-response.ts';
import { variantKey } from './object-key.ts';
import { openResponseBuffers } from './response-buffers.ts';
import { encryptedLength, encryptSegment } from './segment-cipher.ts';
import type { ObjectStore } from './object-store.ts';

let root: string;
let store: ObjectStore;
const buffers = openResponseBuffers();
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'object-answer-'));
  store = await openDiskObjectStore(root);
});
afterAll(() => rm(root, { recursive: true }));

const newReply = () => Object.assign(new EventEmitter(), { closed: false });
async function stored(content: Buffer) {
  const key = variantKey(randomUUID(), 'w64.webp');
  await store.put(
    key,
    (async function* all() {
      yield content;
    })(),
    content.length,
  );
  return key;
}
const ask = async (
  content: Buffer,
  {
    raw = newReply(),
    headers = {},
  }: { raw?: ReturnType<typeof newReply>; headers?: Record<string, string> } = {},
) =>
  sendObject(
    createStorageContext({ store, buffers }),
    { request: { method: 'GET', headers }, reply: { raw } },
    { key: await stored(content), etag: 'a', headers: {} },
  );

describe('the bytes of a response', () => {
  test('do not change before the response is sent, while other responses are built', async () => {
    const contents = Array.from({ length: 100 }, () => randomBytes(20_000));
    const answers = await Promise.all(contents.map((content) => ask(content)));
    for (const [index, { body }] of answers.entries())
      expect(contents[index]?.equals(body as Buffer)).toBe(true);
  });

  test('release their buffer after the response is sent', async () => {
    const raw = newReply();
    const first = await ask(Buffer.from('first'), { raw });
    raw.emit('close');
    const second = await ask(Buffer.from('second'));
    expect((second.body as Buffer).buffer).toBe((first.body as Buffer).buffer);
  });

  test('come from memory when an object is used often, for ranges, HEAD and 304 too', async () => {
    const key = await stored(Buffer.from('0123456789'));
    const objectCache = createObjectCache(1_000_000);
    const get = (method: string, headers: Record<string, string> = {}) =>
      sendObject(
        createStorageContext({ store, buffers, objectCache }),
        { request: { method, headers }, reply: { raw: newReply() } },
        { key, etag: 'a', headers: {}, isCacheable: true },
      );
    for (let uses = 0; uses < 2; uses++) await get('GET');
    await store.remove(key);
    expect(String((await get('GET')).body)).toBe('0123456789');
    expect(String((await get('GET', { range: 'bytes=2-4' })).body)).toBe('234');
    expect(await get('HEAD')).toMatchObject({ status: 200, headers: { 'content-length': 10 } });
    expect((await get('GET', { 'if-none-match': '"a"' })).status).toBe(304);
  });

  test('contain the requested range', async () => {
    const answer = await ask(Buffer.from('0123456789'), { headers: { range: 'bytes=2-4' } });
    expect(answer).toMatchObject({
      status: 206,
      headers: { 'content-length': 3, 'content-range': 'bytes 2-4/10' },
    });
    expect(String(answer.body)).toBe('234');
  });
});

describe('an encrypted response', () => {
  const cipher = { key: randomBytes(16), iv: randomBytes(16) };
  const SMALL = 100_000;
  const LARGE = 3_000_001;
  type Asked = {
    readonly content: Buffer;
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly from?: (plain: ObjectStore) => ObjectStore;
    readonly objectCache?: ReturnType<typeof createObjectCache>;
  };
  const askEncrypted = async ({
    content,
    method = 'GET',
    headers = {},
    from = (plain) => plain,
    objectCache = createObjectCache(0),
  }: Asked) => {
    const key = await stored(content);
    return sendEncryptedObject(
      createStorageContext({ store: from(store), buffers, objectCache }),
      { request: { method, headers } },
      { key, etag: 'a', headers: {}, isCacheable: true, cipher },
    );
  };
  const bytesOf = async (body: Uint8Array | Readable | undefined): Promise<Buffer> =>
    body instanceof Readable ? Buffer.concat(await body.toArray()) : Buffer.from(body ?? []);
  /** As a store that opens an object in one request. */
  const remote = (plain: ObjectStore): ObjectStore => ({
    ...plain,
    open: async (key) => {
      const sizeBytes = await plain.size(key);
      return sizeBytes === undefined ? undefined : { sizeBytes, body: plain.stream(key) };
    },
  });

  test.each([
    ['a small object', SMALL, (plain: ObjectStore) => plain],
    ['a large object', LARGE, (plain: ObjectStore) => plain],
    ['a small object of a remote store', SMALL, remote],
    ['a large object of a remote store', LARGE, remote],
  ])('is the ciphertext of %s', async (_, length, from) => {
    const content = randomBytes(length);
    const { status, headers, body } = await askEncrypted({ content, from });
    expect([status, headers['content-length']]).toEqual([200, encryptedLength(length)]);
    expect((await bytesOf(body)).equals(encryptSegment(cipher, content))).toBe(true);
    expect(body instanceof Readable).toBe(length === LARGE || from === remote);
  });

  test('keeps no buffer of the pool while it is sent', async () => {
    const first = await ask(Buffer.from('first'), { raw: Object.assign(newReply(), { closed: true }) });
    await askEncrypted({ content: randomBytes(SMALL) });
    const second = await ask(Buffer.from('second'), { raw: Object.assign(newReply(), { closed: true }) });
    expect((second.body as Buffer).buffer).toBe((first.body as Buffer).buffer);
    expect((second.body as Buffer).byteOffset).toBe((first.body as Buffer).byteOffset);
  });

  test('is made from memory when an object is used often', async () => {
    const key = await stored(Buffer.from('0123456789'));
    const ctx = createStorageContext({ store, buffers, objectCache: createObjectCache(1_000_000) });
    const get = () =>
      sendEncryptedObject(
        ctx,
        { request: { method: 'GET', headers: {} } },
        { key, etag: 'a', headers: {}, isCacheable: true, cipher },
      );
    for (let uses = 0; uses < 2; uses++) await get();
    await store.remove(key);
    expect(await bytesOf((await get()).body)).toEqual(encryptSegment(cipher, Buffer.from('0123456789')));
  });

  test('ignores ranges', async () => {
    const content = randomBytes(SMALL);
    const { status, headers, body } = await askEncrypted({ content, headers: { range: 'bytes=2-4' } });
    expect([status, headers['accept-ranges'], headers['content-range']]).toEqual([200, 'none', undefined]);
    expect((await bytesOf(body)).equals(encryptSegment(cipher, content))).toBe(true);
  });

  test('of HEAD and 304 has no bytes', async () => {
    const head = await askEncrypted({ content: randomBytes(SMALL), method: 'HEAD' });
    expect([head.status, head.headers['content-length']]).toEqual([200, encryptedLength(SMALL)]);
    expect(await bytesOf(head.body)).toHaveLength(0);
    const known = await askEncrypted({ content: randomBytes(SMALL), headers: { 'if-none-match': '"a"' } });
    expect([known.status, known.body]).toEqual([304, undefined]);
  });

  test('closes the object when the client leaves', async () => {
    const source = new Readable({ read: () => undefined });
    const opened = async () => ({ sizeBytes: LARGE, body: source });
    const { body } = await askEncrypted({
      content: Buffer.from('a'),
      from: (plain) => ({ ...plain, open: opened }),
    });
    const closed = new Promise<void>((resolve) => {
      source.once('close', resolve);
    });
    (body as Readable).destroy();
    await closed;
  });

  test('fails when the object cannot be read to its end', async () => {
    const source = Readable.from(
      (async function* broken() {
        yield randomBytes(1000);
        throw new Error('connection lost');
      })(),
    );
    const opened = async () => ({ sizeBytes: LARGE, body: source });
    const { body } = await askEncrypted({
      content: Buffer.from('a'),
      from: (plain) => ({ ...plain, open: opened }),
    });
    await expect(bytesOf(body)).rejects.toThrow('connection lost');
  });

  test('of a missing object is NOT_FOUND', async () => {
    const missing = sendEncryptedObject(
      createStorageContext({ store, buffers }),
      { request: { method: 'GET', headers: {} } },
      { key: variantKey(randomUUID(), 'w64.webp'), etag: 'a', headers: {}, cipher },
    );
    await expect(missing).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
