// Object store on a local disk: one file per object, which gets its name only when it is complete and
// durable.
import { hash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, open, read } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  failedWith,
  filesBelow,
  makeFolder,
  removeBelow,
  removeFile,
  removeIfEmpty,
  syncFolder,
} from './disk/folders.ts';
import { type Limits, publish, receive, openTemporaryFolder } from './disk/incoming.ts';
import { openPartialFiles } from './disk/partial-files.ts';
import { freeBytes } from '../platform/free-space.ts';
import type { ObjectKey } from './object-key.ts';
import {
  type ListedObject,
  ObjectRefused,
  type ObjectStore,
  type ReadObject,
  type StoredBytes,
} from './object-store.ts';

const SHARDS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const READ_BYTES = 1024 * 1024;
const STREAM_BYTES = 512 * 1024;
const MIN_FREE_BYTES = 64 * 1024 * 1024;

/**
 * Objects are in `<root>/objects/<shard>/<key>`, incomplete uploads in `<root>/incoming`, resumable
 * ones in `<root>/partial`. `link` requires that all are on one file system.
 */
export async function openDiskObjectStore(
  root: string,
  { minFreeBytes = MIN_FREE_BYTES } = {},
): Promise<ObjectStore & Required<Pick<ObjectStore, 'partial'>>> {
  const objects = join(resolve(root), 'objects');
  const incoming = join(resolve(root), 'incoming');
  const partial = join(resolve(root), 'partial');
  await makeFolders([incoming, partial, objects, ...SHARDS.map((shard) => join(objects, shard))]);
  const newPath = await openTemporaryFolder(incoming);
  const requireSpace = async () => {
    if ((await freeBytes(incoming)) < minFreeBytes) throw new ObjectRefused('full');
  };
  const pathOf = (key: ObjectKey) => join(objects, shardOf(key), key);
  return {
    put: async (key, bytes, maxBytes) =>
      put({ temporary: newPath(), path: pathOf(key) }, bytes, { maxBytes, requireSpace }),
    size: async (key) => sizeOf(pathOf(key)),
    read: async (key, into) => readSmall(pathOf(key), into),
    stream: (key, range) => createReadStream(pathOf(key), { ...range, highWaterMark: STREAM_BYTES }),
    remove: async (key) => remove(objects, pathOf(key)),
    removeAll: (prefix) => removeAll(objects, prefix),
    list: (prefix) => list(objects, prefix),
    listSizes: (prefix) => listSizes(objects, prefix, pathOf),
    localFile: pathOf,
    partial: openPartialFiles({ folder: partial, pathOf, requireSpace }),
    check: async () => {
      await requireSpace();
      await withTemporary(newPath(), (path) => writeFile(path, 'probe', { flag: 'wx' }));
    },
  };
}

/** All objects of an asset are in one shard. */
const shardOf = (key: ObjectKey): string => hash('sha256', assetOf(key)).slice(0, 2);

/**
 * Empty for the prefix of a whole kind. Also rejects path traversal, in case a key was created by a type
 * cast.
 */
function assetOf(key: ObjectKey): string {
  const [, asset] = key.split('/');
  if (asset === undefined || /(?:^|\/)[./]/.test(key)) throw new Error('not an object key');
  return asset;
}

/** The folders of a prefix: one for an asset, or one in every shard for a whole kind. */
function foldersOf(objects: string, prefix: ObjectKey): string[] {
  const shards = assetOf(prefix) === '' ? SHARDS : [shardOf(prefix)];
  return shards.map((shard) => join(objects, shard, prefix));
}

async function makeFolders(folders: string[]): Promise<void> {
  const changed = new Set<string>();
  for (const folder of folders) {
    for (const parent of await makeFolder(folder)) changed.add(parent);
  }
  await Promise.all(Array.from(changed, syncFolder));
}

type Names = { readonly temporary: string; readonly path: string };

function put(
  { temporary, path }: Names,
  bytes: AsyncIterable<Uint8Array>,
  limits: Limits,
): Promise<StoredBytes> {
  return withTemporary(temporary, async () => {
    const stored = await receive(temporary, bytes, limits);
    await publish(temporary, path);
    return stored;
  });
}

async function withTemporary<T>(path: string, work: (path: string) => Promise<T>): Promise<T> {
  try {
    return await work(path);
  } catch (error) {
    throw failedWith(error, 'ENOSPC', 'EDQUOT') ? new ObjectRefused('full', { cause: error }) : error;
  } finally {
    await removeFile(path);
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await undefinedIfMissing(stat(path)))?.size;
}

/**
 * A FileHandle is slower than reading most segments. `fstat` and `close` of an open file do not wait for the
 * disk.
 */
const [openFile, readFile] = [promisify(open), promisify(read)];

async function readSmall(path: string, into?: Uint8Array): Promise<ReadObject | undefined> {
  const file = await undefinedIfMissing(openFile(path, 'r'));
  if (file === undefined) return undefined;
  try {
    const sizeBytes = fstatSync(file).size;
    if (sizeBytes > READ_BYTES) return { sizeBytes };
    return {
      sizeBytes,
      bytes: await readExactly(file, (into ?? Buffer.allocUnsafe(sizeBytes)).subarray(0, sizeBytes)),
    };
  } finally {
    closeSync(file);
  }
}

async function readExactly(file: number, buffer: Uint8Array): Promise<Uint8Array> {
  const { bytesRead } = await readFile(file, buffer, 0, buffer.length, 0);
  if (bytesRead < buffer.length) throw new RangeError('the object ends before its length');
  return buffer;
}

async function undefinedIfMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function remove(objects: string, path: string): Promise<void> {
  await removeFile(path);
  await removeEmptied(objects, dirname(path));
}

async function removeAll(objects: string, prefix: ObjectKey): Promise<number> {
  let removed = 0;
  for (const folder of foldersOf(objects, prefix)) {
    removed += await removeBelow(folder);
    await removeEmptied(objects, dirname(folder));
  }
  return removed;
}

/** Removes empty parent folders. Keeps `<shard>/<kind>`, because the next object needs it again. */
async function removeEmptied(objects: string, folder: string): Promise<void> {
  const [, , id] = relative(objects, folder).split('/');
  if (id && (await removeIfEmpty(folder))) await removeEmptied(objects, dirname(folder));
}

async function* list(objects: string, prefix: ObjectKey): AsyncGenerator<ObjectKey> {
  for (const folder of foldersOf(objects, prefix)) {
    for await (const path of filesBelow(folder)) yield path.slice(`${objects}/ff/`.length) as ObjectKey;
  }
}

async function* listSizes(
  objects: string,
  prefix: ObjectKey,
  pathOf: (key: ObjectKey) => string,
): AsyncGenerator<ListedObject> {
  for await (const key of list(objects, prefix)) {
    const sizeBytes = await sizeOf(pathOf(key));
    if (sizeBytes !== undefined) yield { key, sizeBytes };
  }
}
