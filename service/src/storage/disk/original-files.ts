// Files of originals: `<folder>/<shard>/<asset>_<upload>`. A folder for each asset would cost every upload
// one more mkdir and fsync.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectKey } from '../object-key.ts';
import { removeFile } from './folders.ts';
import { assetOf, type ObjectFiles, openShards, shardOf, shardsAfter } from './shards.ts';

const KIND = 'originals';

export const isOriginal = (key: ObjectKey): boolean => key.startsWith(`${KIND}/`);

export async function openOriginalFiles(folder: string): Promise<ObjectFiles> {
  await openShards(folder);
  const pathOf = (key: ObjectKey) => join(folder, shardOf(assetOf(key)), fileNameOf(key));
  return {
    pathOf,
    list: (prefix, after) => list(folder, prefix, after),
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

async function* list(folder: string, prefix: ObjectKey, after?: ObjectKey): AsyncGenerator<ObjectKey> {
  const asset = assetOf(prefix);
  const start = asset === '' ? '' : `${asset}_`;
  const last = after && { shard: shardOf(assetOf(after)), name: fileNameOf(after) };
  for (const shard of shardsAfter(prefix, after))
    for (const name of (await readdir(join(folder, shard))).sort())
      if (name.startsWith(start) && !(last?.shard === shard && name <= last.name))
        yield `${KIND}/${name.replace('_', '/')}` as ObjectKey;
}
