// A small body that arrives at once is read into memory; any other is handed over byte for byte.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readSmallBody } from './small-body.ts';

const LIMITS = { maxBytes: 10, withinMs: 50 };

async function* bodyOf(...parts: readonly (string | Promise<void> | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    if (typeof part === 'string') yield Buffer.from(part);
    else await part;
  }
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('a small body is whole, and can be read twice', async () => {
  const { chunks = [], bytes } = await readSmallBody({ length: 6, bytes: bodyOf('abc', 'def') }, LIMITS);
  expect(Buffer.concat(chunks).toString()).toBe('abcdef');
  expect([await textOf(bytes), await textOf(bytes)]).toEqual(['abcdef', 'abcdef']);
});

test.each<[string, number | undefined, string]>([
  ['of unknown length', undefined, 'abc'],
  ['that is longer', 11, 'abcdefghijk'],
  ['that ends early', 4, 'abc'],
])('a body %s is not', async (_, length, text) => {
  const { chunks, bytes } = await readSmallBody({ length, bytes: bodyOf(text) }, LIMITS);
  expect([chunks, await textOf(bytes)]).toEqual([undefined, text]);
});

test('a slow body is handed over with what has arrived', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const body = await readSmallBody({ length: 6, bytes: bodyOf('abc', promise, 'def') }, LIMITS);
  resolve();
  expect([body.chunks, await textOf(body.bytes)]).toEqual([undefined, 'abcdef']);
});

test('the reader of the bytes gets the error of a body that breaks off, now or later', async () => {
  const failing = [bodyOf('abc', new Error('gone')), bodyOf('abc', delay(80), new Error('gone'))];
  for (const bytes of failing) {
    const body = await readSmallBody({ length: 6, bytes }, LIMITS);
    expect(body.chunks).toBeUndefined();
    await expect(textOf(body.bytes)).rejects.toThrow('gone');
  }
});
