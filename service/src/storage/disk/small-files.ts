// Creates small files under their final names, with half of the waits that a temporary file takes.
import { createHash } from 'node:crypto';
import type { StoredBytes } from '../object-store.ts';
import { bytesIn } from '../received-bytes.ts';
import { syncFolder } from '../../platform/disk/sync-folder.ts';
import { removeFile } from './folders.ts';
import { createEntry, createFile, writeFully } from './incoming.ts';

/** Creates a file with these bytes and makes it and its name durable. Removes it when that fails. */
export async function createDurably(path: string, chunks: readonly Uint8Array[]): Promise<StoredBytes> {
  const { entry: file, changed } = await createEntry(path, () => createFile(path));
  try {
    const written = writeFully(file, chunks);
    const digest = createHash('sha256');
    for (const chunk of chunks) digest.update(chunk);
    await written;
    // The file system makes both durable by one commit of its journal.
    await Promise.all([file.sync(), ...Array.from(changed, syncFolder)]);
    return { sizeBytes: bytesIn(chunks), sha256: digest.digest('hex') };
  } catch (error) {
    await removeFile(path);
    throw error;
  } finally {
    await file.close();
  }
}
