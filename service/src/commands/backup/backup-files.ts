// Reads and writes the files of a backup, several at a time, and compares their SHA-256.
import { createHash } from 'node:crypto';
import type { CopiedFile } from '@mediary/embedded-postgres/base-backup';
import type { BackupTarget, NewTargetFile, TargetFile } from '../../storage/backup-target.ts';
import type { StoredBytes } from '../../storage/object-store.ts';

/** A file that a snapshot lists; `tag` is that of the target. */
export type BackedUpFile = CopiedFile & { readonly tag?: string | undefined };

/** Folders of a target, which all snapshots share. */
const OBJECTS = 'objects';
const DATABASE = 'database';

export const objectPath = ({ path }: Pick<CopiedFile, 'path'>): string => `${OBJECTS}/${path}`;
/** Named by its content, so that a file that did not change is stored once. */
export const databasePath = ({ sha256 }: Pick<CopiedFile, 'sha256'>): string => `${DATABASE}/${sha256}`;

/** Each waits for the disk or the network most of the time. */
const AT_ONCE = 4;

/** Throws the first error when no work is in progress any more. */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = toAsync(items);
  const workOnOthers = async () => {
    for await (const item of waiting) await work(item);
  };
  const results = await Promise.allSettled(Array.from({ length: AT_ONCE }, workOnOthers));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** A generator, which the first failure ends for all. */
async function* toAsync<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  yield* items;
}

export type StoredFiles = ReadonlyMap<string, TargetFile>;

/** The files of objects and of the database that a target has, by path. */
export async function listStored(target: BackupTarget): Promise<StoredFiles> {
  const stored = new Map<string, TargetFile>();
  for (const folder of [OBJECTS, DATABASE])
    for await (const file of target.list(folder)) stored.set(file.path, file);
  return stored;
}

/** Whether the target still has a file as a snapshot lists it, by what a list tells. */
export const isUnchanged = (
  found: TargetFile | undefined,
  { sizeBytes, tag }: Pick<BackedUpFile, 'sizeBytes' | 'tag'>,
): boolean => found?.sizeBytes === sizeBytes && (tag === undefined || found.tag === tag);

/** What a backup in progress knows of its target, by path. */
export type BackupWriter = {
  readonly target: BackupTarget;
  readonly stored: StoredFiles;
  /** Files of the newest snapshot, and objects of backups that did not end. */
  readonly known: ReadonlyMap<string, BackedUpFile>;
  readonly signal: AbortSignal;
};

/** Stores a file in place of one that the target has, but not as the newest snapshot lists it. */
export async function sendFile(
  { target, stored, signal }: BackupWriter,
  file: NewTargetFile,
  bytes: AsyncIterable<Uint8Array>,
): Promise<StoredBytes> {
  if (stored.has(file.path)) await target.remove([file.path]);
  return target.write(file, untilAborted(bytes, signal));
}

/** Ends in the middle of a large file, too. */
async function* untilAborted(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    signal.throwIfAborted();
    yield chunk;
  }
}

export class ChangedFileError extends Error {}

type ListedBytes = { readonly path: string; readonly sha256: string };

/** After the last byte, throws ChangedFileError where a file has another SHA-256 or does not exist. */
export async function* readVerified(
  target: BackupTarget,
  { path, sha256 }: ListedBytes,
): AsyncGenerator<Uint8Array> {
  const bytes = await target.read(path);
  if (!bytes) throw new ChangedFileError(`${target.location}/${path} is missing`);
  const digest = createHash('sha256');
  for await (const chunk of bytes) {
    digest.update(chunk);
    yield chunk;
  }
  if (digest.digest('hex') !== sha256)
    throw new ChangedFileError(`${target.location}/${path} has other bytes than when it was backed up`);
}

/** Stores a file whose bytes are in memory. */
export const writeBytes = (target: BackupTarget, path: string, bytes: Uint8Array): Promise<StoredBytes> =>
  target.write({ path, sizeBytes: bytes.length }, once(bytes));

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
