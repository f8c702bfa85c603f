// Keeps a copy of the PostgreSQL package for a user who cannot reach the installed one.
import { lstatSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** 58 MB, once for each version; a half copy is never taken for a whole one. */
export async function copyToShelf(source: string, shelf: string): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  const copy = join(await ownFolder(shelf), version);
  await sweepDeadCopies(copy);
  if (await isWhole(copy, source)) return copy;
  const half = await mkdtemp(`${copy}.half-${process.pid}-`);
  await cp(source, half, { recursive: true, verbatimSymlinks: true });
  await letAllRead(half);
  await publish(half, copy, source);
  return copy;
}

/** Anybody may write to /var/tmp: what lies there under our name counts only if it is ours and nobody else can write to it. */
async function ownFolder(shelf: string): Promise<string> {
  const folder = join(shelf, `mediary-${process.getuid?.()}`);
  const made = await mkdir(folder).then(() => true, unlessTaken);
  if (made) await chmod(folder, 0o755);
  const { uid, mode } = lstatSync(folder);
  if (uid !== process.getuid?.() || (mode & 0o170022) !== 0o040000)
    throw new Error(`${folder} is not Mediary's alone: remove it`);
  return folder;
}

async function sweepDeadCopies(copy: string): Promise<void> {
  const prefix = `${basename(copy)}.half-`;
  const halves = (await readdir(dirname(copy))).filter((name) => name.startsWith(prefix));
  const dead = halves.filter((name) => !isAlive(Number.parseInt(name.slice(prefix.length), 10)));
  await Promise.all(dead.map((name) => rm(join(dirname(copy), name), { recursive: true, force: true })));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Asked at each start, since cleaners of temporary folders take single old files. */
async function isWhole(copy: string, source: string): Promise<boolean> {
  const size = (folder: string, name: string) =>
    lstatSync(join(folder, name), { throwIfNoEntry: false })?.size;
  const names = await readdir(source, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath.slice(source.length), entry.name));
  return files.every((name) => size(copy, name) === size(source, name));
}

/** Installed under a strict umask, the files themselves are closed to others. */
async function letAllRead(folder: string): Promise<void> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(
    (entry) => !entry.isSymbolicLink(),
  );
  await Promise.all([
    chmod(folder, 0o755),
    ...entries.map((entry) => chmod(join(entry.parentPath, entry.name), 0o755)),
  ]);
}

/** Renames first and looks after, so that of two who copy at once the later one keeps the earlier one's. */
async function publish(half: string, copy: string, source: string): Promise<void> {
  await rename(half, copy).catch(unlessTaken);
  if (await isWhole(copy, source)) return rm(half, { recursive: true, force: true });
  await rm(copy, { recursive: true });
  await rename(half, copy);
}

function unlessTaken(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
}
