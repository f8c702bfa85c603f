// Reads and writes whole objects.
import type { ObjectKey } from './object-key.ts';
import { ObjectRefused, type ObjectStore } from './object-store.ts';

type ReadableStore = Pick<ObjectStore, 'stream'>;

/** Only for objects that the service wrote itself: it holds the whole text in memory. */
export const readText = async (store: ReadableStore, key: ObjectKey): Promise<string> =>
  Buffer.concat(await store.stream(key).toArray()).toString();

/** The bytes of all objects, one after the other. */
export async function* readJoined(
  store: ReadableStore,
  keys: Iterable<ObjectKey>,
): AsyncGenerator<Uint8Array> {
  for (const key of keys) yield* store.stream(key);
}

/** Keeps an existing object: another process created it from the same input. Throws other ObjectRefused. */
export async function unlessStored(putting: Promise<unknown>): Promise<void> {
  try {
    await putting;
  } catch (error) {
    if (!(error instanceof ObjectRefused && error.reason === 'exists')) throw error;
  }
}
