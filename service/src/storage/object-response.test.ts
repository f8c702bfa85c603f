// Tests that a response buffer is reused only after its response was sent.
import { EventEmitter } from 'node:events';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDiskObjectStore } from './disk-object-store.ts';
import { openHotObjects } from './hot-objects.ts';
import { sendObject } from './object-response.ts';
import { variantKey } from './object-key.ts';
import { openResponseBuffers } from './response-buffers.ts';
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
    { store, buffers, hotObjects: openHotObjects(0) },
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
    const hotObjects = openHotObjects(1_000_000);
    const get = (method: string, headers: Record<string, string> = {}) =>
      sendObject(
        { store, buffers, hotObjects },
        { request: { method, headers }, reply: { raw: newReply() } },
        { key, etag: 'a', headers: {}, isHot: true },
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
