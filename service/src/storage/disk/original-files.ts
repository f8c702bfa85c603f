// Files of originals: `<folder>/<shard>/<asset>_<upload>`. A folder for each asset would cost every upload
// one more mkdir and fsync.
import { link, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ObjectKey } from '../object-key.ts';
import { syncFolder } from '../../platform/sync-folder.ts';
import { failedWith, filesBelow, removeFile, removeIfEmpty } from './folders.ts';
import { assetOf, type ObjectFiles, openShards, SHARDS, shardOf, shardsOf } from './shards.ts';

const KIND = 'originals';
/** Limits the names in memory while a large store is moved. */
const MOVED_SHARDS = 8;

export const isOriginal = (key: ObjectKey): boolean => key.startsWith(`${KIND}/`);

/** Also moves the originals of earlier releases from `nested`. */
export async function openOriginalFiles(folder: string, nested: string): Promise<ObjectFiles> {
  await openShards(folder);
  for (let next = 0; next < SHARDS.length; next += MOVED_SHARDS)
    await Promise.all(
      SHARDS.slice(next, next + MOVED_SHARDS).map((shard) =>
        moveNested(join(nested, shard, KIND), join(folder, shard)),
      ),
    );
  const pathOf = (key: ObjectKey) => join(folder, shardOf(assetOf(key)), fileNameOf(key));
  return {
    pathOf,
    list: (prefix) => list(folder, prefix),
    remove: async (key) => {
      await removeFile(pathOf(key));
    },
    removeAll: async (prefix) => {
      let removed = 0;
      for await (const key of list(folder, prefix)) if (await removeFile(pathOf(key))) removed += 1;
      return removed;
    },
  };
}

/** Ids contain no underscores. */
function fileNameOf(key: ObjectKey): string {
  const [, asset, upload, ...more] = key.split('/');
  if (!asset || !upload || more.length > 0) throw new Error('not an object key');
  return `${asset}_${upload}`;
}

async function* list(folder: string, prefix: ObjectKey): AsyncGenerator<ObjectKey> {
  const asset = assetOf(prefix);
  const start = asset === '' ? '' : `${asset}_`;
  for (const shard of shardsOf(asset))
    for (const name of await readdir(join(folder, shard)))
      if (name.startsWith(start)) yield `${KIND}/${name.replace('_', '/')}` as ObjectKey;
}

/**
 * Earlier releases stored `<nested>/<asset>/<upload>`. May end at any point, and run in several processes at
 * the same time: the old names are removed when the new ones are durable.
 */
async function moveNested(nested: string, shard: string): Promise<void> {
  const moved: string[] = [];
  for await (const path of filesBelow(nested)) {
    await linkUnlessMoved(path, join(shard, `${basename(dirname(path))}_${basename(path)}`));
    moved.push(path);
  }
  if (moved.length > 0) await syncFolder(shard);
  for (const path of moved) {
    await removeFile(path);
    await removeIfEmpty(dirname(path));
  }
  await removeIfEmpty(nested);
}

async function linkUnlessMoved(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!failedWith(error, 'EEXIST', 'ENOENT')) throw error;
  }
}
