// Makes files, and the entries of folders, durable.
import { closeSync, fsync, open } from 'node:fs';
import { promisify } from 'node:util';

const openFile = promisify(open);
export const syncFile = promisify(fsync);

/** Makes the entries of a folder durable; does nothing if it does not exist (any more). */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const file = await openFile(folder, 'r');
    await syncFile(file).finally(() => closeSync(file));
  } catch (error) {
    // Another process deleted the entry and the empty folder meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
