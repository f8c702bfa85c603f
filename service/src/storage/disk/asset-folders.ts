// Files of assets with many objects, in a folder for each asset: `<folder>/<shard>/<key>`.
import { dirname, join, relative, resolve } from 'node:path';
import type { ObjectKey } from '../object-key.ts';
import { filesBelow, removeBelow, removeFile, removeIfEmpty } from './folders.ts';
import { assetOf, type ObjectFiles, openShards, shardOf, shardsAfter, shardsOf } from './shards.ts';

export async function openAssetFolders(folder: string): Promise<ObjectFiles> {
  await openShards(folder);
  const pathOf = (key: ObjectKey) => join(folder, shardOf(assetOf(key)), key);
  return {
    pathOf,
    list: (prefix, after) => list(folder, prefix, after),
    remove: async (key) => {
      await removeFile(pathOf(key));
      await removeEmptied(folder, dirname(pathOf(key)));
    },
    removeAll: (prefix) => removeAll(folder, prefix),
  };
}

const foldersOf = (folder: string, prefix: ObjectKey): string[] =>
  shardsOf(assetOf(prefix)).map((shard) => join(folder, shard, prefix));

async function* list(folder: string, prefix: ObjectKey, after?: ObjectKey): AsyncGenerator<ObjectKey> {
  for (const shard of shardsAfter(prefix, after)) {
    const start = after && shard === shardOf(assetOf(after)) ? join(folder, shard, after) : undefined;
    for await (const path of filesBelow(resolve(folder, shard, prefix), start))
      yield path.slice(`${folder}/ff/`.length) as ObjectKey;
  }
}

async function removeAll(folder: string, prefix: ObjectKey): Promise<number> {
  let removed = 0;
  for (const below of foldersOf(folder, prefix)) {
    removed += await removeBelow(below);
    await removeEmptied(folder, dirname(below));
  }
  return removed;
}

/** Removes empty parent folders. Keeps `<shard>/<kind>`, because the next object needs it again. */
async function removeEmptied(root: string, folder: string): Promise<void> {
  const [, , id] = relative(root, folder).split('/');
  if (id && (await removeIfEmpty(folder))) await removeEmptied(root, dirname(folder));
}
