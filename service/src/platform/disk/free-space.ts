// Reserves free disk space for deletes and the database: uploads are rejected while less than the reserve is
// free.
import { statfs } from 'node:fs/promises';
import { ServiceError } from '../http/errors.ts';

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

type Component = 'database' | 'object store' | 'scratch folder';

class DiskFull extends ServiceError {
  readonly component: Component;
  constructor(component: Component, cause: unknown) {
    super(
      'UNAVAILABLE',
      `The disk of the ${component} is full: less than MIN_FREE_BYTES is free. ` +
        'Retry after space has been freed.',
      { details: { reason: 'disk_full' }, cause },
    );
    this.component = component;
  }
}

export const diskFull = (component: Component, cause?: unknown): ServiceError =>
  new DiskFull(component, cause);

/** Whether a write failed because its disk or quota is full. */
export const isNoSpace = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT'].includes(String(error.code));

/** For work that writes no other files than those of the scratch folder: stores have errors of their own. */
export const isScratchFull = (error: unknown): boolean =>
  isNoSpace(error) || (error instanceof DiskFull && error.component === 'scratch folder');

/** `folder` is undefined when the database runs on another machine, whose disk cannot be checked. */
export function databaseSpaceGuard(folder: string | undefined, minFreeBytes: number): SpaceGuard {
  if (folder === undefined) return async () => {};
  const readFreeBytes = shareFreeBytes(folder, SMALL_WRITES_MS);
  return async () => {
    if ((await readFreeBytes()) < minFreeBytes) throw diskFull('database');
  };
}
