// Port of a backup target: a folder or a bucket. Files never change: each is whole or absent, and durable
// when `write` resolves.
import type { StoredBytes } from './object-store.ts';

export type TargetFile = {
  /** Slash-separated; the first part is the folder that `list` takes. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Another one means other bytes. Absent where a target would have to read them. */
  readonly tag?: string | undefined;
};

/** One process has it at a time. */
export type TargetLock = {
  /** Aborted when the lock is lost, with an error that says to whom. */
  readonly signal: AbortSignal;
  /** Throws when the lock is lost. */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
};

export type BackupTarget = {
  /** Folder or bucket, for people; without a slash at its end. */
  readonly location: string;
  /** Lists the files below a folder, in any order. */
  list(folder: string): AsyncIterable<TargetFile>;
  /** Undefined when the file does not exist. The reader must begin to read, or the file stays open. */
  read(path: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Stores all bytes as a new file, or nothing. Throws ObjectStoreError: `exists` when there is such a file,
   * `too_long` or `cut_short` when the source has more or fewer bytes than `sizeBytes`.
   */
  write(file: NewTargetFile, bytes: AsyncIterable<Uint8Array>): Promise<StoredBytes>;
  /** Files that do not exist are ignored. */
  remove(paths: readonly string[]): Promise<void>;
  /** Throws when another backup has the lock. That of a killed process is taken over. */
  lock(signal: AbortSignal): Promise<TargetLock>;
  close(): void;
};

/** Another backup has the lock. */
export class TargetInUseError extends Error {}

export type NewTargetFile = { readonly path: string; readonly sizeBytes: number };
