// Bytes are collected into parts of equal size, and a process holds a bounded number of them.
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { collectParts, createPartBudget, partBytesFor } from './parts.ts';

const unlimited = async () => () => {};

async function* inChunks(content: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < content.length; start += length) yield content.subarray(start, start + length);
}

async function collected(content: Buffer, chunkLength: number) {
  const digest = createHash('sha256');
  const parts = [];
  for await (const part of collectParts(inChunks(content, chunkLength), {
    maxBytes: 1000,
    partBytes: 10,
    reserve: unlimited,
    digest,
  }))
    parts.push(part);
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

describe('the budget', () => {
  test('admits the next part when one is released, and refuses after the longest wait', async () => {
    const reserve = createPartBudget(1, 50);
    const release = await reserve();
    await expect(reserve()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const next = reserve();
    release();
    (await next)();
  });

  test('is given back when the source fails, and when the consumer stops', async () => {
    const reserve = createPartBudget(1, 50);
    const limits = { maxBytes: 1000, partBytes: 10, reserve, digest: createHash('sha256') };
    await expect(collectParts(inChunks(randomBytes(2000), 5000), limits).next()).rejects.toMatchObject({
      reason: 'too_long',
    });
    for await (const part of collectParts(inChunks(randomBytes(30), 30), limits)) {
      part.release();
      break;
    }
    (await reserve())();
  });
});
