// Reads objects into memory, and tells why one is not stored.
import type { ObjectKey } from './object-key.ts';
import {
  type ByteRange,
  ObjectStoreError,
  type ObjectStore,
  type ObjectStoreErrorReason,
} from './object-store.ts';

type ReadableStore = Pick<ObjectStore, 'stream'>;

/** Holds all these bytes in memory; a single chunk is not copied. */
export async function readBytes(store: ReadableStore, key: ObjectKey, range?: ByteRange): Promise<Buffer> {
  const chunks: Buffer[] = await store.stream(key, range).toArray();
  const [first = Buffer.alloc(0), ...more] = chunks;
  return more.length === 0 ? first : Buffer.concat(chunks);
}

/** Only for objects that the service wrote itself. */
export const readText = async (store: ReadableStore, key: ObjectKey): Promise<string> =>
  (await readBytes(store, key)).toString();

/** The bytes of all objects, one after the other. */
export async function* readJoined(
  store: ReadableStore,
  keys: Iterable<ObjectKey>,
): AsyncGenerator<Uint8Array> {
  for (const key of keys) yield* store.stream(key);
}

export const isRefusal = (error: unknown, reason: ObjectStoreErrorReason): boolean =>
  error instanceof ObjectStoreError && error.reason === reason;

/** Keeps an existing object: another process created it from the same input. Throws other errors. */
export async function unlessStored(putting: Promise<unknown>): Promise<void> {
  try {
    await putting;
  } catch (error) {
    if (!isRefusal(error, 'exists')) throw error;
  }
}
