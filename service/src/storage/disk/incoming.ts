// The way of new bytes to their name: a temporary file, hashed while it is written, durable before it can be seen.
import { createHash } from 'node:crypto';
import { type FileHandle, link, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ObjectRefused, type StoredBytes } from '../object-store.ts';
import { failedWith, makeFolder, removeFile, syncFolder } from './folders.ts';

/** Small chunks are written together: so many bytes (twice as many cost more per byte on ext4), or as many chunks as one writev takes. */
const BATCH_BYTES = 512 * 1024;
const BATCH_CHUNKS = 1024;

/** The free space is checked again after so many bytes, so that a large object does not use up the reserve. */
const SPACE_CHECK_BYTES = 16 * 1024 * 1024;

/** `requireSpace` throws ObjectRefused `full` while only the reserve is free. */
export type Limits = { readonly maxBytes: number; readonly requireSpace: () => Promise<void> };

/** How often a folder may be missing when an object gets its name; again only if it is removed at that very moment. */
const TRIES = 100;

/** Writes all of the source to a new file and syncs it. The source comes first: until it is pulled from, nobody hears it fail. */
export async function receive(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  { maxBytes, requireSpace }: Limits,
): Promise<StoredBytes> {
  const digest = createHash('sha256');
  let sizeBytes = 0;
  let nextCheck = 0;
  let file: FileHandle | undefined;
  try {
    for await (const batch of batchesOf(bytes, maxBytes)) {
      if (sizeBytes >= nextCheck) {
        await requireSpace();
        nextCheck = sizeBytes + SPACE_CHECK_BYTES;
      }
      file ??= await open(path, 'wx', 0o600);
      const written = writeFully(file, batch);
      for (const chunk of batch) digest.update(chunk);
      sizeBytes += bytesIn(batch);
      await written;
    }
    await file?.sync();
  } finally {
    await file?.close();
  }
  return { sizeBytes, sha256: digest.digest('hex') };
}

const bytesIn = (chunks: readonly Uint8Array[]): number =>
  chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);

/** At least one batch, so that an empty object is a file too. */
async function* batchesOf(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array[]> {
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  let allBytes = 0;
  for await (const chunk of unbroken(bytes)) {
    allBytes += chunk.byteLength;
    if (allBytes > maxBytes) throw new ObjectRefused('too_long');
    batchBytes += chunk.byteLength;
    batch.push(chunk);
    if (batchBytes < BATCH_BYTES && batch.length < BATCH_CHUNKS) continue;
    yield batch;
    batch = [];
    batchBytes = 0;
  }
  yield batch;
}

/** Only what the source itself throws passes here, so a failing disk is never taken for a failing source. */
async function* unbroken(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (cause) {
    throw new ObjectRefused('cut_short', { cause });
  }
}

/** A disk that fills up first takes a part and says so only in the count; the next write fails. */
export async function writeFully(
  file: Pick<FileHandle, 'writev'>,
  chunks: readonly Uint8Array[],
): Promise<void> {
  let rest = withoutFirst(0, chunks);
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest);
    rest = withoutFirst(bytesWritten, rest);
  }
}

function withoutFirst(count: number, chunks: readonly Uint8Array[]): Uint8Array[] {
  const rest: Uint8Array[] = [];
  let skip = count;
  for (const chunk of chunks) {
    if (skip < chunk.byteLength) rest.push(chunk.subarray(skip));
    skip = Math.max(0, skip - chunk.byteLength);
  }
  return rest;
}

/** Gives a synced file its second, public name, unless that is taken, and makes the name durable. */
export async function publish(temporary: string, path: string): Promise<void> {
  const changed = new Set([dirname(path)]);
  for (let tries = 1; !(await linked(temporary, path)); tries += 1) {
    if (tries === TRIES)
      throw new Error('the folder of a new object cannot be made, or its temporary file is gone');
    for (const folder of await makeFolder(dirname(path))) changed.add(folder);
  }
  try {
    await Promise.all(Array.from(changed, syncFolder));
  } catch (error) {
    await removeFile(path);
    throw error;
  }
}

/** False where the folder is missing. `link` alone never replaces what is there: of many at once, one wins. */
async function linked(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return false;
    if (failedWith(error, 'EEXIST')) throw new ObjectRefused('exists', { cause: error });
    throw error;
  }
}
