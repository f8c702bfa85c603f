// Creates small files under their final names, with half of the waits that a temporary file takes.
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { ObjectRefused, type StoredBytes } from '../object-store.ts';
import { bytesIn } from '../received-bytes.ts';
import { failedWith, makeFolder, removeFile, syncFolder } from './folders.ts';
import { createFile, type OpenFile, writeFully } from './incoming.ts';

/** Creates a file with these bytes and makes it and its name durable. Removes it when that fails. */
export async function createDurably(path: string, chunks: readonly Uint8Array[]): Promise<StoredBytes> {
  const { file, changed } = await openNew(path);
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

type NewFile = { readonly file: OpenFile; readonly changed: ReadonlySet<string> };

/** `changed`: the folders with a new entry. */
async function openNew(path: string, changed = new Set([dirname(path)])): Promise<NewFile> {
  try {
    return { file: await createFile(path), changed };
  } catch (error) {
    if (failedWith(error, 'EEXIST')) throw new ObjectRefused('exists', { cause: error });
    if (!failedWith(error, 'ENOENT')) throw error;
  }
  const made = await makeFolder(dirname(path));
  return { file: await createFile(path), changed: new Set([...changed, ...made]) };
}
