// A store with little space: a small mounted file system where that is permitted, otherwise a store that
// simulates a full disk.
import { execFile } from 'node:child_process';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { freeBytes } from '../../../service/src/platform/disk/free-space.ts';
import type { Adapters } from '../../../service/src/adapters.ts';
import type { ObjectKey } from '../../../service/src/storage/object-key.ts';
import { ObjectStoreError, type ObjectStore } from '../../../service/src/storage/object-store.ts';

const run = promisify(execFile);

/** `between` stands in for the disk where none could be mounted. */
export type TightDisk = {
  readonly wrapAdapters?: (adapters: Adapters) => Adapters;
  unmount(): Promise<void>;
};

type DiskSize = { readonly bytes: number; readonly reserve: number };

export async function mountTightDisk(folder: string, size: DiskSize): Promise<TightDisk> {
  await mkdir(folder, { recursive: true });
  const isMounted = await run('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${size.bytes},mode=755`,
    'tmpfs',
    folder,
  ]).then(
    () => true,
    () => false,
  ); // Not everybody may.
  if (isMounted)
    return {
      unmount: async () => {
        await run('umount', [folder]);
      },
    };
  return {
    wrapAdapters: (adapters) => ({ ...adapters, store: countingStore(adapters.store, size) }),
    unmount: async () => {},
  };
}

/** Takes a disk's free space into one file, all of it or all but `leave` bytes. */
export async function fillDisk(path: string, { leave = 0 } = {}): Promise<void> {
  await using file = await open(path, 'w');
  const block = Buffer.alloc(64 * 1024);
  for (const bytes of [block, block.subarray(0, 4096)]) {
    const isWritten = () =>
      file.write(bytes).then(({ bytesWritten }) => bytesWritten === bytes.length, isFull);
    while ((await freeBytes(dirname(path))) > leave && (await isWritten()));
  }
}

function isFull(error: NodeJS.ErrnoException): false {
  if (error.code !== 'ENOSPC') throw error;
  return false;
}

function countingStore(store: ObjectStore, { bytes, reserve }: DiskSize): ObjectStore {
  const held = new Map<ObjectKey, number>();
  const free = () => bytes - [...held.values()].reduce((sum, size) => sum + size, 0);
  const hold = async (key: ObjectKey, size: number, room: number) => {
    if (size > room) {
      await store.remove(key);
      throw new ObjectStoreError('full');
    }
    held.set(key, size);
  };
  return {
    ...store,
    put: async (key, source, most) => {
      const room = free() - reserve;
      const stored = await store.put(key, source, most);
      await hold(key, stored.sizeBytes, room);
      return stored;
    },
    putSmall: async (key, chunks) => {
      const room = free() - reserve;
      const stored = await store.putSmall(key, chunks);
      await hold(key, stored.sizeBytes, room);
      return stored;
    },
    putFile: async (key, path) => {
      const room = free() - reserve;
      await store.putFile(key, path);
      await hold(key, (await stat(path)).size, room);
    },
    remove: async (key) => {
      await store.remove(key);
      held.delete(key);
    },
    removeAll: async (prefix) => {
      for (const key of held.keys()) if (key.startsWith(prefix)) held.delete(key);
      return store.removeAll(prefix);
    },
    check: async () => {
      await store.check();
      if (free() < reserve) throw new ObjectStoreError('full');
    },
  };
}
