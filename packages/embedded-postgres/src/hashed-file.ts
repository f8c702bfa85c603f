// Writes files and computes their SHA-256.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

type Bytes = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** `sha256` in hex. */
export type HashedBytes = { readonly sizeBytes: number; readonly sha256: string };

/** Writes a new durable file that only its owner may read. Creates none where `bytes` fails at its start. */
export async function writeHashed(path: string, bytes: Bytes): Promise<HashedBytes> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const source = Symbol.asyncIterator in bytes ? bytes[Symbol.asyncIterator]() : bytes[Symbol.iterator]();
  let chunk = await source.next();
  await using file = await open(path, 'wx', 0o600);
  for (; !chunk.done; chunk = await source.next()) {
    hash.update(chunk.value);
    sizeBytes += chunk.value.length;
    await file.writeFile(chunk.value);
  }
  await file.sync();
  return { sizeBytes, sha256: hash.digest('hex') };
}
