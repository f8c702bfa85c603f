// Files with secrets: read only if no other user of the machine can, written with mode 0600.
import { chmod, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { usageError } from '../exit-codes.ts';

const OTHERS = 0o077;

/** Undefined where there is no file. The mode is that of the open file, so that it cannot be swapped. */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw usageError(`${path} cannot be read: ${error.message}`);
  });
  if (!file) return undefined;
  try {
    const { mode } = await file.stat();
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
      throw usageError(
        `Other users can access ${path} (mode ${(mode & 0o777).toString(8)}), which holds secrets.`,
        `Run: chmod 600 ${path}`,
      );
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Atomic: a reader sees the old or the new text. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}`;
  try {
    await writeFile(fresh, text, { mode: 0o600 });
    await chmod(fresh, 0o600);
    await rename(fresh, path);
  } catch (error) {
    // Nothing else deletes a copy of the secrets.
    await rm(fresh, { force: true });
    throw error;
  }
}
