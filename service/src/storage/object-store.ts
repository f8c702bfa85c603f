// Port of the object store. Objects are complete or absent, and durable when `put` resolves.
import type { Readable } from 'node:stream';
import type { ObjectKey } from './object-key.ts';

/** Length and lower-case hex SHA-256 of a stored object, computed while it was received. */
export type StoredBytes = { readonly sizeBytes: number; readonly sha256: string };

/** First and last byte, both inclusive and within the object. */
export type ByteRange = { readonly start: number; readonly end: number };

/** `bytes` is undefined for objects larger than 1 MiB. */
export type ReadObject = { readonly sizeBytes: number; readonly bytes?: Uint8Array };

/**
 * `exists`: the key is in use; `too_long`: more than `maxBytes`; `cut_short`: the source failed; `full`: no
 * space except the reserve.
 */
export type PutRefusal = 'exists' | 'too_long' | 'cut_short' | 'full';

export class ObjectRefused extends Error {
  readonly reason: PutRefusal;
  constructor(reason: PutRefusal, options?: ErrorOptions) {
    super(`object not stored: ${reason}`, options);
    this.reason = reason;
  }
}

export type ObjectStore = {
  /**
   * Stores all bytes under a new key, or nothing. Resolves when the object would survive a power failure.
   * Throws ObjectRefused.
   */
  put(key: ObjectKey, bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredBytes>;
  /** Size in bytes; undefined when the object does not exist. */
  size(key: ObjectKey): Promise<number | undefined>;
  /**
   * Reads an object of up to 1 MiB into new memory, or into `into` of at least 1 MiB. Returns only the size
   * of larger objects.
   */
  read(key: ObjectKey, into?: Uint8Array): Promise<ReadObject | undefined>;
  /** Streams an object of any length. The stream fails when the object does not exist. */
  stream(key: ObjectKey, range?: ByteRange): Readable;
  /** Deletes an object; does nothing when it does not exist. */
  remove(key: ObjectKey): Promise<void>;
  /** Deletes all objects below a prefix that ends in a slash; returns their number. */
  removeAll(prefix: ObjectKey): Promise<number>;
  /** Lists keys below a prefix that ends in a slash, in any order. */
  list(prefix: ObjectKey): AsyncIterable<ObjectKey>;
  /** Path of a local file with the object's bytes, if the store has one. The file must not be changed. */
  localFile?(key: ObjectKey): string;
  /**
   * Fails when the store cannot be reached or written. Throws ObjectRefused `full` when only the reserve is
   * free.
   */
  check(): Promise<void>;
};
