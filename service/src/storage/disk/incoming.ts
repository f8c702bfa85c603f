// Writes new objects: to a temporary file with a hash, then durably to the final name.
import { createHash, randomUUID } from 'node:crypto';
import { close, closeSync, constants, fchmodSync, fchownSync, open, writev } from 'node:fs';
import { copyFile, type FileHandle, link, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { getProcessMark, hasProcessExited } from '../../platform/process/scratch-folder.ts';
import { type ObjectBytes, ObjectStoreError, type StoredBytes } from '../object-store.ts';
import { bytesIn, receivedBytes } from '../received-bytes.ts';
import { syncFile, syncFolder } from '../../platform/disk/sync-folder.ts';
import { failedWith, makeFolder, removeFile } from './folders.ts';

/**
 * Small chunks are batched. Larger batches are slower per byte on ext4; one writev accepts at most 1024
 * chunks.
 */
const BATCH_BYTES = 512 * 1024;
const BATCH_CHUNKS = 1024;
/** Many slow uploads would otherwise hold a batch each in memory. */
const BATCH_MS = 1000;

const FILE_MODE = 0o600;

/** The free space is checked at this interval, so that a large object cannot use up the reserve. */
const SPACE_CHECK_BYTES = 16 * 1024 * 1024;

/** `requireSpace` throws ObjectStoreError `full` while only the reserve is free. */
type IncomingLimits = { readonly maxBytes: number; readonly requireSpace: () => Promise<void> };

/**
 * Attempts to create an object. One fails where its folder is missing, also when another request creates or
 * removes a folder above it at the same time.
 */
const MAX_ATTEMPTS = 100;

/**
 * Writes the source to a new file and syncs it. Reads the source first, because its errors are not observed
 * before.
 */
export async function receive(
  path: string,
  bytes: ObjectBytes,
  { maxBytes, requireSpace }: IncomingLimits,
): Promise<StoredBytes> {
  const digest = createHash('sha256');
  let sizeBytes = 0;
  let file = undefined as OpenFile | undefined;
  const batches = whileSpace(batchesOf(bytes, maxBytes), { requireSpace, everyBytes: SPACE_CHECK_BYTES });
  try {
    await writeBehind(batches, async (batch) => {
      file ??= await createFile(path);
      const written = writeFully(file, batch);
      for (const chunk of batch) digest.update(chunk);
      sizeBytes += bytesIn(batch);
      await written;
    });
    await file?.sync();
  } finally {
    await file?.close();
  }
  return { sizeBytes, sha256: digest.digest('hex') };
}

type OpenFile = Pick<FileHandle, 'writev' | 'sync' | 'close'>;

const [openFile, closeFile, writeChunks] = [promisify(open), promisify(close), promisify(writev)];

/** Calls that wait switch threads, which small uploads notice. The close of a synced file does not wait. */
export async function createFile(path: string): Promise<OpenFile> {
  const file = await openFile(path, 'wx', FILE_MODE);
  let isSynced = false;
  return {
    writev: (chunks, position) => writeChunks(file, chunks, position),
    sync: async () => {
      await syncFile(file);
      isSynced = true;
    },
    close: async () => (isSynced ? closeSync(file) : closeFile(file)),
  };
}

/** Copies a file to a new one within the system, which takes no memory of the process, and syncs it. */
export async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  const file = await openFile(to, 'r+');
  try {
    // The system copies mode and owner, and ffmpeg runs as a user of its own.
    fchmodSync(file, FILE_MODE);
    fchownSync(file, process.geteuid?.() ?? -1, process.getegid?.() ?? -1);
    await syncFile(file);
  } finally {
    closeSync(file);
  }
}

/** Yields at least one batch, so that an empty object also creates a file. */
export async function* batchesOf(bytes: ObjectBytes, maxBytes: number): AsyncGenerator<Uint8Array[]> {
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  let batchUntil = performance.now() + BATCH_MS;
  for await (const chunk of receivedBytes(bytes, maxBytes)) {
    batchBytes += chunk.byteLength;
    batch.push(chunk);
    const isFull = batchBytes >= BATCH_BYTES || batch.length >= BATCH_CHUNKS;
    if (!isFull && performance.now() < batchUntil) continue;
    yield batch;
    batch = [];
    batchBytes = 0;
    batchUntil = performance.now() + BATCH_MS;
  }
  yield batch;
}

type SpaceChecks = Pick<IncomingLimits, 'requireSpace'> & { readonly everyBytes: number };

/** Checks the free space before the first batch, and again after `everyBytes`. */
export async function* whileSpace(
  batches: AsyncIterable<Uint8Array[]>,
  { requireSpace, everyBytes }: SpaceChecks,
): AsyncGenerator<Uint8Array[]> {
  let unchecked = everyBytes;
  for await (const batch of batches) {
    if (unchecked >= everyBytes) {
      await requireSpace();
      unchecked = 0;
    }
    unchecked += bytesIn(batch);
    yield batch;
  }
}

/**
 * Writes each batch while the next one arrives. Nothing is being written when it ends, also when it throws an
 * error of the source or of a write.
 */
export async function writeBehind<T>(
  batches: AsyncIterable<T>,
  write: (batch: T) => Promise<void>,
): Promise<void> {
  let running = Promise.resolve();
  const settled = () => running.catch(() => {});
  try {
    for await (const batch of batches) {
      await running;
      running = write(batch);
      // The next batch, or the end, throws its error.
      void settled();
    }
    await running;
  } finally {
    await settled();
  }
}

/**
 * Writes at `position`, else where the last write ended. A full disk first accepts a part and reports it only
 * by the count; the next write fails.
 */
export async function writeFully(
  file: Pick<FileHandle, 'writev'>,
  chunks: readonly Uint8Array[],
  position?: number,
): Promise<void> {
  let remaining = skipBytes(0, chunks);
  let at = position;
  while (remaining.length > 0) {
    const { bytesWritten } = await file.writev(remaining, at);
    if (at !== undefined) at += bytesWritten;
    remaining = skipBytes(bytesWritten, remaining);
  }
}

function skipBytes(count: number, chunks: readonly Uint8Array[]): Uint8Array[] {
  const remaining: Uint8Array[] = [];
  let skip = count;
  for (const chunk of chunks) {
    if (skip < chunk.byteLength) remaining.push(chunk.subarray(skip));
    skip = Math.max(0, skip - chunk.byteLength);
  }
  return remaining;
}

/** Gives a synced file its final name, and makes the name durable. */
export async function publish(temporary: string, path: string): Promise<void> {
  await syncLinks(path, await linkObject(temporary, path));
}

/** Links a synced file to its final path, unless the path exists. Returns the folders to sync. */
export async function linkObject(temporary: string, path: string): Promise<ReadonlySet<string>> {
  return (await createEntry(path, () => link(temporary, path))).changed;
}

/** `changed`: the folders with a new entry. */
type NewEntry<T> = { readonly entry: T; readonly changed: ReadonlySet<string> };

/** Creates a file by `create`, which does not replace one that exists, and its missing folders. */
export async function createEntry<T>(path: string, create: () => Promise<T>): Promise<NewEntry<T>> {
  const changed = new Set([dirname(path)]);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { entry: await create(), changed };
    } catch (error) {
      if (failedWith(error, 'EEXIST')) throw new ObjectStoreError('exists', { cause: error });
      if (!failedWith(error, 'ENOENT') || attempt === MAX_ATTEMPTS) throw error;
    }
    for (const folder of await makeFolder(dirname(path))) changed.add(folder);
  }
}

/** Makes a new link durable, or removes it. */
export async function syncLinks(path: string, changed: ReadonlySet<string>): Promise<void> {
  try {
    await Promise.all(Array.from(changed, syncFolder));
  } catch (error) {
    await removeFile(path);
    throw error;
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Deletes the temporary files of exited processes; returns a function that creates new paths. */
export async function openTemporaryFolder(folder: string): Promise<() => string> {
  const mark = await getProcessMark();
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    // Indexing services create folders of their own in each folder.
    if (!entry.isFile()) continue;
    const { name } = entry;
    const path = join(folder, name);
    if ((await hasProcessExited(name.slice(0, name.indexOf('_')))) || (await isOld(path)))
      await removeFile(path);
  }
  return () => join(folder, `${mark}_${randomUUID()}`);
}

async function isOld(path: string): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < Date.now() - DAY_MS;
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return false;
    throw error;
  }
}
