// Reservations of free space in the scratch folder: running work reserves all that it may need.
import { isScratchFull } from '../disk/free-space.ts';

/** Another process, or this one when space was freed, takes the job then. */
export const SPACE_RETRY_MS = 30_000;

export type ScratchReservations = {
  /**
   * Runs the work if the disk has this many free bytes besides those that are reserved; otherwise, and when
   * the disk is full before the work has ended, returns how many are free. `idleBytes`: reserved by work that
   * writes nothing until this work has ended.
   */
  runWithin(bytes: number, work: () => Promise<void>, idleBytes?: number): Promise<number | undefined>;
};

type ScratchDisk = {
  /** Bytes that stay free. */
  readonly minFreeBytes: number;
  readonly freeBytes: () => Promise<number>;
  /** Deletes the scratch folders of killed processes. */
  readonly deleteAbandoned: () => Promise<unknown>;
};

/** All kinds of work of a process share it, so that work that starts together fits together. */
export function openScratchReservations({
  minFreeBytes,
  freeBytes,
  deleteAbandoned,
}: ScratchDisk): ScratchReservations {
  let reserved = 0;
  const measure = async () => (await freeBytes()) - minFreeBytes;
  return {
    async runWithin(bytes, work, idleBytes = 0) {
      let free = await measure();
      if (free < reserved - idleBytes + bytes) {
        await deleteAbandoned();
        free = await measure();
      }
      const available = Math.max(0, free - reserved + idleBytes);
      if (bytes > available) return available;
      reserved += bytes;
      const isDone = await work()
        .then(() => true, rethrowUnlessFull)
        .finally(() => {
          reserved -= bytes;
        });
      return isDone ? undefined : Math.max(0, (await measure()) - reserved);
    },
  };
}

function rethrowUnlessFull(error: unknown): false {
  if (!isScratchFull(error)) throw error;
  return false;
}
