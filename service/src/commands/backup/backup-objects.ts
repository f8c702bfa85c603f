// Copies the objects of a store to a backup folder, and back. Objects never change, so each is copied once.
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CopiedFile } from '@mediary/embedded-postgres/base-backup';
import { readVerified, writeHashed } from '@mediary/embedded-postgres/hashed-file';
import { type ObjectKey, storeRoots } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { unlessStored } from '../../storage/whole-objects.ts';
import { objectFile } from './backup-snapshot.ts';

type CopiedObjects = { readonly objects: readonly CopiedFile[]; readonly copied: number };

type ObjectSource = {
  readonly store: Pick<ObjectStore, 'listSizes' | 'stream' | 'size'>;
  readonly signal: AbortSignal;
};

/** `known`: objects of earlier snapshots, whose files are kept. */
export async function copyObjects(
  { store, signal }: ObjectSource,
  backup: string,
  known: readonly CopiedFile[],
): Promise<CopiedObjects> {
  const earlier = new Map(known.map((file) => [file.path, file]));
  const objects: CopiedFile[] = [];
  let copied = 0;
  for (const root of storeRoots())
    for await (const { key, sizeBytes } of store.listSizes(root)) {
      signal.throwIfAborted();
      const kept = earlier.get(key);
      if (kept && kept.sizeBytes === sizeBytes && (await hasSize(objectFile(backup, key), sizeBytes))) {
        objects.push(kept);
        continue;
      }
      const object = await copyObject(store, backup, key);
      if (object) objects.push(object);
      copied += object ? 1 : 0;
    }
  return { objects, copied };
}

const hasSize = (path: string, sizeBytes: number): Promise<boolean> =>
  stat(path).then(
    ({ size }) => size === sizeBytes,
    () => false,
  );

/** Undefined for an object that was deleted meanwhile. */
async function copyObject(
  store: Pick<ObjectStore, 'stream' | 'size'>,
  backup: string,
  key: ObjectKey,
): Promise<CopiedFile | undefined> {
  const path = objectFile(backup, key);
  const temporary = `${path}.${randomUUID()}.new`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const written = await writeHashed(temporary, store.stream(key));
    await rename(temporary, path);
    return { path: key, ...written };
  } catch (error) {
    await rm(temporary, { force: true });
    if ((await store.size(key)) === undefined) return undefined;
    throw error;
  }
}

/** Throws for a file with other bytes than the snapshot lists. Keeps objects that the store has. */
export async function restoreObjects(
  store: Pick<ObjectStore, 'put' | 'size'>,
  backup: string,
  objects: readonly CopiedFile[],
): Promise<void> {
  for (const { path, sizeBytes, sha256 } of objects) {
    const key = path as ObjectKey;
    if ((await store.size(key)) === sizeBytes) continue;
    await unlessStored(
      store.put(key, readVerified(objectFile(backup, path), sha256), Math.max(1, sizeBytes)),
    );
  }
}

/** Deletes the objects that no snapshot lists, and empty folders. Returns how many. */
export async function deleteUnlisted(folder: string, listed: ReadonlySet<string>, key = ''): Promise<number> {
  let deleted = 0;
  for (const entry of await readdir(join(folder, key), { withFileTypes: true })) {
    const inner = key === '' ? entry.name : `${key}/${entry.name}`;
    if (entry.isDirectory()) deleted += await deleteUnlisted(folder, listed, inner);
    else if (!listed.has(inner)) {
      await rm(join(folder, inner));
      deleted += 1;
    }
  }
  if (key !== '' && (await readdir(join(folder, key))).length === 0) await rmdir(join(folder, key));
  return deleted;
}
