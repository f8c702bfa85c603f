// Folders that several processes create at the same time, and that are complete or not there.
import { mkdtemp, rename, rm } from 'node:fs/promises';

/** Fills the folder under another name. Of two that are created at once, the first one to finish stays. */
export async function createOnce(folder: string, fill: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = await mkdtemp(`${folder}.`);
  try {
    await fill(unfinished);
    await rename(unfinished, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
