// A store with little room: a small file system of its own where this process may mount one, else a store that counts and refuses as a full disk does.
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Parts } from '../../service/src/parts.ts';
import { ObjectRefused, type ObjectStore } from '../../service/src/storage/object-store.ts';

const run = promisify(execFile);

/** `between` stands in for the disk where none could be mounted. */
export type TightDisk = { readonly between?: (parts: Parts) => Parts; unmount(): Promise<void> };

export async function mountTightDisk(folder: string, bytes: number): Promise<TightDisk> {
  await mkdir(folder, { recursive: true });
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]).then(
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
    between: (parts) => ({ ...parts, store: countingStore(parts.store, bytes) }),
    unmount: async () => {},
  };
}

const LEAST_FREE = 64 * 1024 * 1024;

function countingStore(store: ObjectStore, bytes: number): ObjectStore {
  const held = new Map<string, number>();
  const free = () => bytes - [...held.values()].reduce((sum, size) => sum + size, 0);
  return {
    ...store,
    put: async (key, source, most) => {
      const room = free();
      const stored = await store.put(key, source, most);
      if (stored.sizeBytes > room) {
        await store.remove(key);
        throw new ObjectRefused('full');
      }
      held.set(key, stored.sizeBytes);
      return stored;
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
      if (free() < LEAST_FREE) throw new Error('little room is left');
    },
  };
}
