// The 256 folders that spread the objects of a disk store; all objects of an asset are in one of them.
import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectKey } from '../object-key.ts';
import { syncFolder } from '../../platform/disk/sync-folder.ts';
import { makeFolder } from './folders.ts';

const SHARDS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Files of some kinds of objects, and how their keys become paths. Prefixes end in a slash. */
export type ObjectFiles = {
  readonly pathOf: (key: ObjectKey) => string;
  /** By shard, then by name. `after`: continues behind this key. */
  readonly list: (prefix: ObjectKey, after?: ObjectKey) => AsyncGenerator<ObjectKey>;
  readonly remove: (key: ObjectKey) => Promise<void>;
  /** Returns the number of files. */
  readonly removeAll: (prefix: ObjectKey) => Promise<number>;
};

/**
 * The asset's id; empty for the prefix of a whole kind. Also rejects path traversal, in case a key was
 * created by a type cast.
 */
export function assetOf(key: ObjectKey): string {
  const [, asset] = key.split('/');
  if (asset === undefined || /(?:^|\/)[./]/.test(key)) throw new Error('not an object key');
  return asset;
}

export const shardOf = (asset: string): string => hash('sha256', asset).slice(0, 2);

/** The shards of a prefix: one for an asset, all for a whole kind. */
export const shardsOf = (asset: string): readonly string[] => (asset === '' ? SHARDS : [shardOf(asset)]);

/** The shards of a prefix that a list continues with behind a key. */
export const shardsAfter = (prefix: ObjectKey, after: ObjectKey | undefined): readonly string[] => {
  const shards = shardsOf(assetOf(prefix));
  return after === undefined ? shards : shards.filter((shard) => shard >= shardOf(assetOf(after)));
};

/** Creates the missing shards. */
export async function openShards(folder: string): Promise<void> {
  await ensureFolder(folder);
  const existing = new Set(await readdir(folder));
  const missing = SHARDS.filter((shard) => !existing.has(shard));
  await Promise.all(missing.map((shard) => makeFolder(join(folder, shard))));
  if (missing.length > 0) await syncFolder(folder);
}

/** Creates a folder and its missing parents durably. */
export async function ensureFolder(folder: string): Promise<void> {
  await Promise.all((await makeFolder(folder)).map(syncFolder));
}
