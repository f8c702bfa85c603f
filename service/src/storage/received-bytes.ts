// Counts and limits the bytes of a new object, and tells errors of the source from errors of the store.
import { type ObjectBytes, ObjectStoreError } from './object-store.ts';

export const bytesIn = (chunks: readonly Uint8Array[]): number =>
  chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);

/** Throws ObjectStoreError `too_long` for more than `maxBytes`, and `cut_short` when the source fails. */
export async function* receivedBytes(bytes: ObjectBytes, maxBytes: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  try {
    for await (const chunk of bytes) {
      received += chunk.byteLength;
      if (received > maxBytes) throw new ObjectStoreError('too_long');
      yield chunk;
    }
  } catch (cause) {
    throw cause instanceof ObjectStoreError ? cause : new ObjectStoreError('cut_short', { cause });
  }
}

/** The same, but throws `cut_short` for fewer bytes too. */
export async function* exactBytes(bytes: ObjectBytes, sizeBytes: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const chunk of receivedBytes(bytes, sizeBytes)) {
    received += chunk.byteLength;
    yield chunk;
  }
  if (received < sizeBytes) throw new ObjectStoreError('cut_short');
}
