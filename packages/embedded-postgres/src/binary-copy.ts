// Copies the PostgreSQL package for a user who cannot read the installed one.
import { lstatSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** 58 MB, once per version. The copy is renamed into place when it is complete. */
export async function copyPackage(source: string, copyRoot: string): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  const copy = join(await openPrivateFolder(copyRoot), version);
  await removeStaleCopies(copy);
  if (await isComplete(copy, source)) return copy;
  const partial = await mkdtemp(`${copy}.partial-${process.pid}-`);
  await cp(source, partial, { recursive: true, verbatimSymlinks: true });
  await makeReadable(partial);
  await publish(partial, copy, source);
  return copy;
}

/**
 * Every user can write to /var/tmp, so an existing folder must belong to this user and be writable by nobody
 * else.
 */
async function openPrivateFolder(copyRoot: string): Promise<string> {
  const folder = join(copyRoot, `mediary-${process.getuid?.()}`);
  const isNew = await mkdir(folder).then(() => true, ignoreExisting);
  if (isNew) await chmod(folder, 0o755);
  const { uid, mode } = lstatSync(folder);
  if (uid !== process.getuid?.() || (mode & 0o170022) !== 0o040000)
    throw new Error(`${folder} can be written by other users. Check its content and remove it`);
  return folder;
}

async function removeStaleCopies(copy: string): Promise<void> {
  const prefix = `${basename(copy)}.partial-`;
  const copies = (await readdir(dirname(copy))).filter((name) => name.startsWith(prefix));
  const stale = copies.filter((name) => !isAlive(Number.parseInt(name.slice(prefix.length), 10)));
  await Promise.all(stale.map((name) => rm(join(dirname(copy), name), { recursive: true, force: true })));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Checked at each start: cleaners of temporary folders delete single old files. */
async function isComplete(copy: string, source: string): Promise<boolean> {
  const size = (folder: string, name: string) =>
    lstatSync(join(folder, name), { throwIfNoEntry: false })?.size;
  const names = await readdir(source, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath.slice(source.length), entry.name));
  return files.every((name) => size(copy, name) === size(source, name));
}

/** A package that was installed with a strict umask is not readable by other users. */
async function makeReadable(folder: string): Promise<void> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(
    (entry) => !entry.isSymbolicLink(),
  );
  await Promise.all([
    chmod(folder, 0o755),
    ...entries.map((entry) => chmod(join(entry.parentPath, entry.name), 0o755)),
  ]);
}

/** Renames first and checks afterwards: of two concurrent copies the first one stays. */
async function publish(partial: string, copy: string, source: string): Promise<void> {
  await rename(partial, copy).catch(ignoreExisting);
  if (await isComplete(copy, source)) return rm(partial, { recursive: true, force: true });
  await rm(copy, { recursive: true });
  await rename(partial, copy);
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
}
