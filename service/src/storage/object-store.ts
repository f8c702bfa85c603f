// The port behind which bytes lie: a disk or an S3-compatible store. Whole objects only, durable before `put` answers.
import type { Readable } from 'node:stream';
import type { ObjectKey } from './object-key.ts';

/** What is known of bytes once they are stored: length and lower-case hex SHA-256, computed while they arrived. */
export type StoredBytes = { readonly sizeBytes: number; readonly sha256: string };

/** First and last byte, both included, both within the object. */
export type ByteRange = { readonly start: number; readonly end: number };

/** `bytes` are missing where there are more than 1 MiB of them. */
export type ReadObject = { readonly sizeBytes: number; readonly bytes?: Uint8Array };

/** Why `put` stored nothing. `exists`: the key is taken; `too_long`: more than `maxBytes` came; `cut_short`: the source broke off; `full`: no space is left, or only the reserve. */
export type PutRefusal = 'exists' | 'too_long' | 'cut_short' | 'full';

export class ObjectRefused extends Error {
  readonly reason: PutRefusal;
  constructor(reason: PutRefusal, options?: ErrorOptions) {
    super(`object not stored: ${reason}`, options);
    this.reason = reason;
  }
}

export type ObjectStore = {
  /** Stores all that `bytes` yields under a new key, or nothing at all; resolves when it would survive a power cut. Throws ObjectRefused. */
  put(key: ObjectKey, bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredBytes>;
  /** Bytes of the object, undefined where there is none. */
  size(key: ObjectKey): Promise<number | undefined>;
  /** All of an object of up to 1 MiB at once, in new memory or at the start of `into`, which has room for as much; of a longer one only the length. */
  read(key: ObjectKey, into?: Uint8Array): Promise<ReadObject | undefined>;
  /** Any length, as a stream that fails if the object is missing. */
  stream(key: ObjectKey, range?: ByteRange): Readable;
  /** A missing object is no error. */
  remove(key: ObjectKey): Promise<void>;
  /** Removes all below a prefix that ends in a slash; answers how many there were. */
  removeAll(prefix: ObjectKey): Promise<number>;
  /** Keys below a prefix that ends in a slash, in any order. */
  list(prefix: ObjectKey): AsyncIterable<ObjectKey>;
  /** Path of a file that holds the object, where the store has one on this machine; it is read only. */
  localFile?(key: ObjectKey): string;
  /** Fails if the store cannot be reached or written; throws ObjectRefused `full` if only the reserve is free. */
  check(): Promise<void>;
};
