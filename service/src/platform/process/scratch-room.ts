// The room on the disk of the scratch folder: running work reserves all that it may need.

/** Another process, or this one when space was freed, takes the job then. */
export const ROOM_RETRY_MS = 30_000;

export type ScratchRoom = {
  /**
   * Runs the work if the disk has room for so many bytes beside those that are reserved; otherwise returns
   * how many are free.
   */
  runWithin(bytes: number, work: () => Promise<void>): Promise<number | undefined>;
};

type ScratchDisk = {
  /** Stay free. */
  readonly minFreeBytes: number;
  readonly freeBytes: () => Promise<number>;
  /** Deletes the scratch folders of killed processes. */
  readonly deleteAbandoned: () => Promise<unknown>;
};

/** Work of every kind shares the room of a process, so that what starts together fits together. */
export function openScratchRoom({ minFreeBytes, freeBytes, deleteAbandoned }: ScratchDisk): ScratchRoom {
  let reserved = 0;
  const measure = async () => (await freeBytes()) - minFreeBytes;
  return {
    async runWithin(bytes, work) {
      let free = await measure();
      if (free < reserved + bytes) {
        await deleteAbandoned();
        free = await measure();
      }
      if (bytes > 0 && free < reserved + bytes) return Math.max(0, free - reserved);
      reserved += bytes;
      try {
        await work();
      } finally {
        reserved -= bytes;
      }
      return undefined;
    },
  };
}
