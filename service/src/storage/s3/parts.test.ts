// Bytes are collected into parts of equal size, which take memory as bytes arrive.
import { createHash, randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import type { ObjectBytes } from '../object-store.ts';
import { createPartMemory, type PartMemory } from './part-memory.ts';
import { collectParts, partBytesFor } from './parts.ts';

const unlimited = createPartMemory({ totalBytes: 10_000, maxWaitMs: 50 });

async function* inChunks(content: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < content.length; start += length) yield content.subarray(start, start + length);
}

async function collected(content: Buffer, chunkLength: number) {
  const digest = createHash('sha256');
  const parts = [];
  for await (const part of collectParts(inChunks(content, chunkLength), {
    maxBytes: 1000,
    partBytes: 10,
    memory: unlimited,
    digest,
  })) {
    parts.push(part);
    part.release();
  }
  return { parts, sha256: digest.digest('hex') };
}

describe('parts', () => {
  test.for([
    [0, 1, [0]],
    [9, 4, [9]],
    [10, 10, [10]],
    [11, 3, [10, 1]],
    [20, 7, [10, 10]],
    [35, 100, [10, 10, 10, 5]],
  ] as const)('of %i bytes in chunks of %i', async ([length, chunkLength, lengths]) => {
    const content = randomBytes(length);
    const { parts, sha256 } = await collected(content, chunkLength);
    expect(parts.map(({ bytes }) => bytes.length)).toEqual(lengths);
    expect(parts.map(({ number, isLast }) => [number, isLast])).toEqual(
      lengths.map((_, index) => [index + 1, index === lengths.length - 1]),
    );
    expect(Buffer.concat(parts.map(({ bytes }) => bytes)).equals(content)).toBe(true);
    expect(sha256).toBe(createHash('sha256').update(content).digest('hex'));
  });

  test('are at most 10 000, and at least 8 MiB long', () => {
    expect(partBytesFor(1)).toBe(8 * 1024 ** 2);
    expect(partBytesFor(10 * 1024 ** 3)).toBe(8 * 1024 ** 2);
    const [largest] = [5 * 1024 ** 4];
    expect(largest / partBytesFor(largest)).toBeLessThanOrEqual(10_000);
    expect(partBytesFor(Number.POSITIVE_INFINITY)).toBe(partBytesFor(largest));
  });
});

describe('the memory of a part', () => {
  const collect = (source: ObjectBytes, memory: PartMemory) =>
    collectParts(source, { maxBytes: 1000, partBytes: 10, memory });

  test('is given back when the source fails, and when the consumer stops', async () => {
    const memory = createPartMemory({ totalBytes: 20, maxWaitMs: 50 });
    await expect(collect(inChunks(randomBytes(2000), 5000), memory).next()).rejects.toMatchObject({
      reason: 'too_long',
    });
    for await (const part of collect(inChunks(randomBytes(30), 30), memory)) {
      part.release();
      break;
    }
    for (const _ of [1, 2]) await memory().grow(10);
  });

  test('is taken when bytes arrive', async () => {
    const memory = createPartMemory({ totalBytes: 10, maxWaitMs: 50 });
    const silent = Array.from({ length: 10 }, () => new PassThrough());
    const waiting = silent.map((source) => collect(source, memory).next());
    expect((await collect([randomBytes(5)], memory).next()).value.bytes).toHaveLength(5);
    for (const source of silent) source.end();
    for (const { value } of await Promise.all(waiting)) expect(value.bytes).toHaveLength(0);
  });

  test('that is revoked is given back before the source ends', async () => {
    const source = new PassThrough();
    const { promise: revoked, reject } = Promise.withResolvers<never>();
    const release = vi.fn();
    const memory: PartMemory = () => ({
      grow: async () => {},
      receive: (next) => Promise.race([next, revoked]),
      release,
    });
    const first = collect(source, memory).next();
    reject(new Error('revoked'));
    await expect(first).rejects.toThrow('revoked');
    expect(release).toHaveBeenCalled();
    source.destroy(new Error('the connection was closed'));
  });
});
