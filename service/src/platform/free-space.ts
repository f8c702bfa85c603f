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

export const diskFull = (component: 'database' | 'object store' | 'scratch folder', cause?: unknown) =>
  new ServiceError(
    'UNAVAILABLE',
    `The disk of the ${component} is full: less than MIN_FREE_BYTES is free. ` +
      'Retry after space has been freed.',
    { details: { reason: 'disk_full' }, cause },
  );

/** `folder` is undefined when the database runs on another machine, whose disk cannot be checked. */
export const databaseSpaceGuard =
  (folder: string | undefined, minFreeBytes: number): SpaceGuard =>
  async () => {
    if (folder !== undefined && (await freeBytes(folder)) < minFreeBytes) throw diskFull('database');
  };
