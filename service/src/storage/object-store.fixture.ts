// Keys and byte sources for the tests of object stores.
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { originalKey } from './object-key.ts';

export const MIB = 1024 * 1024;

export const originalOf = (id: string) => originalKey({ id, original_upload: id });

export async function* inChunks(content: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < content.length; start += length) yield content.subarray(start, start + length);
}
export async function* withEmptyChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield* [new Uint8Array(), chunk];
}
export async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield Buffer.alloc(64 * 1024);
}
export async function* failing(after: number, failure: Error): AsyncGenerator<Uint8Array> {
  yield* inChunks(randomBytes(after), 64 * 1024);
  throw failure;
}
/** Fails at the next tick, even if nobody reads it. */
export const failingEarly = (failure: Error) => new Readable({ construct: (done) => done(failure) });
