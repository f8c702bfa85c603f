// Reserves free disk space for deletes and the database: uploads are rejected while less than the reserve is
// free.
import { statfs } from 'node:fs/promises';
import { ServiceError } from './errors.ts';

/** Throws UNAVAILABLE while less than the reserve is free. */
export type SpaceGuard = () => Promise<void>;

export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** The small writes of this time are far less than the reserve. */
export const SMALL_WRITES_MS = 10;

/**
 * Callers share a reading while it is taken, and `keepMs` longer: a wait for the thread pool is a good part
 * of a small upload.
 */
export function shareFreeBytes(folder: string, keepMs = 0): () => Promise<number> {
  let reading: { readonly bytes: Promise<number>; until: number } | undefined;
  const read = () => {
    const started = { bytes: freeBytes(folder), until: Number.POSITIVE_INFINITY };
    const keep = () => {
      started.until = performance.now() + keepMs;
    };
    started.bytes.then(keep, keep);
    return started;
  };
  return () => {
    if (!reading || performance.now() >= reading.until) reading = read();
    return reading.bytes;
  };
}

export const diskFull = (component: 'database' | 'object store' | 'scratch folder', cause?: unknown) =>
  new ServiceError(
    'UNAVAILABLE',
    `The disk of the ${component} is full: less than MIN_FREE_BYTES is free. ` +
      'Retry after space has been freed.',
    { details: { reason: 'disk_full' }, cause },
  );

/** `folder` is undefined when the database runs on another machine, whose disk cannot be checked. */
export function databaseSpaceGuard(folder: string | undefined, minFreeBytes: number): SpaceGuard {
  if (folder === undefined) return async () => {};
  const readFreeBytes = shareFreeBytes(folder, SMALL_WRITES_MS);
  return async () => {
    if ((await readFreeBytes()) < minFreeBytes) throw diskFull('database');
  };
}
