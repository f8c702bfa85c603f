// Keeps a reserve of free disk space, so that deletes and the database go on while uploads are refused.
import { statfs } from 'node:fs/promises';
import { ServiceError } from './errors.ts';

/** Throws UNAVAILABLE while less than the reserve is free. */
export type SpaceGuard = () => Promise<void>;

export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

export const diskFull = (holder: 'database' | 'object store', cause?: unknown) =>
  new ServiceError(
    'UNAVAILABLE',
    `The disk of the ${holder} is full: less than MIN_FREE_BYTES is free. Uploads are refused until space is freed.`,
    { details: { reason: 'disk_full' }, cause },
  );

/** `folder` is undefined where the database is another machine's: its disk cannot be seen. */
export const databaseSpaceGuard =
  (folder: string | undefined, minFreeBytes: number): SpaceGuard =>
  async () => {
    if (folder !== undefined && (await freeBytes(folder)) < minFreeBytes) throw diskFull('database');
  };
