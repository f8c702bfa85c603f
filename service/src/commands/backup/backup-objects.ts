// Copies the objects of a store to a backup, and back. Objects never change, so each is sent once.
import type { CopiedFile } from '@mediary/embedded-postgres/base-backup';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { isOwnObjectKey, type ObjectKey, storeRoots } from '../../storage/object-key.ts';
import type { ListedObject, ObjectStore } from '../../storage/object-store.ts';
import { unlessStored } from '../../storage/whole-objects.ts';
import {
  type BackupWriter,
  inParallel,
  isUnchanged,
  objectPath,
  readVerified,
  sendFile,
} from './backup-files.ts';
import type { BackupProgress } from './backup-progress.ts';

type CopiedObjects = { readonly objects: readonly CopiedFile[]; readonly copied: number };

type ObjectSource = Pick<ObjectStore, 'listSizes' | 'stream' | 'size'>;

export async function copyObjects(
  store: ObjectSource,
  writer: BackupWriter,
  progress: BackupProgress,
): Promise<CopiedObjects> {
  const objects: CopiedFile[] = [];
  let copied = 0;
  await inParallel(listAll(store), async (listed) => {
    writer.signal.throwIfAborted();
    const stored = findStored(writer, listed);
    const object = stored ?? (await copyObject(store, writer, listed));
    if (object) objects.push(object);
    if (!object || stored) return;
    copied += 1;
    await progress.add(object);
  });
  return { objects, copied };
}

/** Without objects of other programs, whose names a target may not take. */
async function* listAll(store: ObjectSource): AsyncGenerator<ListedObject> {
  for (const root of storeRoots())
    for await (const object of store.listSizes(root)) if (isOwnObjectKey(object.key)) yield object;
}

/** An object that the target has already, with the SHA-256 of when it was sent. */
function findStored(
  { known, stored }: BackupWriter,
  { key, sizeBytes }: ListedObject,
): CopiedFile | undefined {
  const path = objectPath({ path: key });
  const found = known.get(path);
  return found?.sizeBytes === sizeBytes && isUnchanged(stored.get(path), found) ? found : undefined;
}

/** Undefined for an object that was deleted meanwhile. */
async function copyObject(
  store: ObjectSource,
  writer: BackupWriter,
  { key, sizeBytes }: ListedObject,
): Promise<CopiedFile | undefined> {
  const file = { path: objectPath({ path: key }), sizeBytes };
  try {
    return { path: key, ...(await sendFile(writer, file, store.stream(key))) };
  } catch (error) {
    if ((await store.size(key)) === undefined) return undefined;
    throw error;
  }
}

/**
 * Throws for a file with other bytes than the snapshot lists. Keeps objects that the store has, but not parts
 * of them.
 */
export const restoreObjects = (
  store: Pick<ObjectStore, 'put' | 'size' | 'remove'>,
  target: BackupTarget,
  objects: readonly CopiedFile[],
): Promise<void> =>
  inParallel(objects, async (object) => {
    const { path, sizeBytes, sha256 } = object;
    const key = path as ObjectKey;
    const foundBytes = await store.size(key);
    if (foundBytes === sizeBytes) return;
    if (foundBytes !== undefined) await store.remove(key);
    const bytes = readVerified(target, { path: objectPath(object), sha256 });
    await unlessStored(store.put(key, bytes, Math.max(1, sizeBytes)));
  });
