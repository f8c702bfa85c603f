// Object store on a local disk: one file per object, which gets its name only when it is complete and
// durable.
import { createReadStream } from 'node:fs';
import { stat, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openAssetFolders } from './disk/asset-folders.ts';
import { type FolderSources, openFolderSources } from './disk/folder-sources.ts';
import { failedWith, removeFile } from './disk/folders.ts';
import {
  copyDurably,
  syncLinks,
  linkObject,
  publish,
  receive,
  openTemporaryFolder,
} from './disk/incoming.ts';
import { isOriginal, openOriginalFiles } from './disk/original-files.ts';
import { openPartialFiles } from './disk/partial-files.ts';
import { ensureFolder, type ObjectFiles } from './disk/shards.ts';
import { createDurably } from './disk/small-files.ts';
import { isNoSpace, shareFreeBytes, SMALL_WRITES_MS } from '../platform/disk/free-space.ts';
import { withOpenFile } from '../platform/disk/open-file.ts';
import { isOwnObjectKey, type ObjectKey } from './object-key.ts';
import { type ListedObject, ObjectStoreError, type ObjectStore, type ReadObject } from './object-store.ts';
import { unlessStored } from './whole-objects.ts';

const READ_BYTES = 1024 * 1024;
const STREAM_BYTES = 512 * 1024;
const MIN_FREE_BYTES = 64 * 1024 * 1024;

type DiskStoreOptions = {
  readonly minFreeBytes?: number;
  /** Absent without ADOPT_SOURCES. */
  readonly sources?: FolderSources | undefined;
};

/**
 * Originals are in `<root>/originals`, other objects in `<root>/objects`, incomplete uploads in
 * `<root>/incoming`, resumable ones in `<root>/partial`. `link` requires that all are on one file system.
 */
export async function openDiskObjectStore(
  root: string,
  { minFreeBytes = MIN_FREE_BYTES, sources }: DiskStoreOptions = {},
): Promise<ObjectStore & Required<Pick<ObjectStore, 'partial'>>> {
  const folder = (name: string) => join(resolve(root), name);
  const [incoming, partial] = [folder('incoming'), folder('partial')];
  for (const path of [incoming, partial]) await ensureFolder(path);
  const files = await openAssetFolders(folder('objects'));
  const originals = await openOriginalFiles(folder('originals'));
  const newPath = await openTemporaryFolder(incoming);
  const requireSpace = guardSpace(minFreeBytes, shareFreeBytes(incoming));
  const requireSmallSpace = guardSpace(minFreeBytes, shareFreeBytes(incoming, SMALL_WRITES_MS));
  const filesOf = (key: ObjectKey): ObjectFiles => (isOriginal(key) ? originals : files);
  const pathOf = (key: ObjectKey) => filesOf(key).pathOf(key);
  const list = (prefix: ObjectKey, after?: ObjectKey) => ownKeys(filesOf(prefix).list(prefix, after));
  const put = async <T>(key: ObjectKey, write: (temporary: string) => Promise<T>): Promise<T> =>
    publishObject({ temporary: newPath(), path: pathOf(key) }, write);
  const putBytes: ObjectStore['put'] = (key, bytes, maxBytes) =>
    put(key, (path) => receive(path, bytes, { maxBytes, requireSpace }));
  return {
    put: putBytes,
    putSmall: async (key, chunks) => {
      await requireSmallSpace();
      return createDurably(pathOf(key), chunks).catch(throwRefusal);
    },
    putFile: (key, source) =>
      put(key, async (path) => {
        await requireSpace((await stat(source)).size);
        await copyDurably(source, path);
      }),
    copy: (from, to) => copyObject(pathOf(from), pathOf(to)),
    size: async (key) => sizeOf(pathOf(key)),
    read: async (key, into) => readSmall(pathOf(key), into),
    stream: (key, range) => createReadStream(pathOf(key), { ...range, highWaterMark: STREAM_BYTES }),
    remove: async (key) => filesOf(key).remove(key),
    removeAll: async (prefix) => filesOf(prefix).removeAll(prefix),
    list: (prefix) => list(prefix),
    listSizes: (prefix, after) => withSizes(list(prefix, after), pathOf),
    localFile: pathOf,
    ...(sources && { sources: openFolderSources(sources, { put: putBytes, publish: put }) }),
    partial: openPartialFiles({ folder: partial, pathOf, requireSpace }),
    check: async () => {
      await requireSpace();
      await withTemporary(newPath(), async (path) => {
        await writeFile(path, 'probe', { flag: 'wx' });
        await removeFile(path);
      });
    },
  };
}

const guardSpace =
  (minFreeBytes: number, readFreeBytes: () => Promise<number>) =>
  async (bytes = 0): Promise<void> => {
    if ((await readFreeBytes()) < bytes + minFreeBytes) throw new ObjectStoreError('full');
  };

type Names = { readonly temporary: string; readonly path: string };

/** `write` writes and syncs the temporary file. */
function publishObject<T>({ temporary, path }: Names, write: (path: string) => Promise<T>): Promise<T> {
  return withTemporary(temporary, async () => {
    const stored = await write(temporary);
    const changed = await linkObject(temporary, path);
    await Promise.all([syncLinks(path, changed), removeFile(temporary)]);
    return stored;
  });
}

/** A second name of the same bytes. Its time is now: a check takes old objects without a row for orphans. */
async function copyObject(from: string, path: string): Promise<void> {
  await unlessStored(publish(from, path));
  const now = new Date();
  await utimes(path, now, now);
}

/** Removes the file if the work fails; otherwise the work removes it. */
async function withTemporary<T>(path: string, work: (path: string) => Promise<T>): Promise<T> {
  try {
    return await work(path);
  } catch (error) {
    await removeFile(path);
    return throwRefusal(error);
  }
}

function throwRefusal(error: unknown): never {
  throw isNoSpace(error) ? new ObjectStoreError('full', { cause: error }) : error;
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await undefinedIfMissing(stat(path)))?.size;
}

const readSmall = (path: string, into?: Uint8Array): Promise<ReadObject | undefined> =>
  undefinedIfMissing(
    withOpenFile(path, async ({ sizeBytes, fill }) => {
      if (sizeBytes > READ_BYTES) return { sizeBytes };
      return { sizeBytes, bytes: await fill((into ?? Buffer.allocUnsafe(sizeBytes)).subarray(0, sizeBytes)) };
    }),
  );

async function undefinedIfMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Without files of other programs, such as `Thumbs.db`. */
async function* ownKeys(keys: AsyncIterable<ObjectKey>): AsyncGenerator<ObjectKey> {
  for await (const key of keys) if (isOwnObjectKey(key)) yield key;
}

async function* withSizes(
  keys: AsyncIterable<ObjectKey>,
  pathOf: (key: ObjectKey) => string,
): AsyncGenerator<ListedObject> {
  for await (const key of keys) {
    const file = await undefinedIfMissing(stat(pathOf(key)));
    if (file) yield { key, sizeBytes: file.size, modifiedAt: file.mtime };
  }
}
