// Scratch folders for jobs, and the marks in file names by which other processes recognize abandoned files.
import { mkdir, readdir, rm, stat, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hash } from 'node:crypto';
import { diskFull, isNoSpace } from '../disk/free-space.ts';
import type { Logger } from '../observability/logger.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Folder names are `<mark>.<work>.<run>`; both parts contain no dots. */
type ScratchName = { readonly work: string; readonly run: string };

/**
 * Creates an empty folder for a run and deletes those of earlier runs, which can no longer publish. Throws
 * UNAVAILABLE when the disk is full.
 */
export async function createScratchFolder(root: string, { work, run }: ScratchName): Promise<string> {
  for (const name of await readdir(root)) {
    if (name.split('.')[1] === work) await deleteScratchFolder(join(root, name));
  }
  const folder = join(root, `${await getProcessMark()}.${work}.${run}`);
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    throw isNoSpace(error) ? diskFull('scratch folder', error) : error;
  });
  return folder;
}

export const deleteScratchFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });

/** The folder exists while `use` runs. */
export async function inScratchFolder<T>(
  root: string,
  name: ScratchName,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await createScratchFolder(root, name);
  try {
    return await use(folder);
  } finally {
    await deleteScratchFolder(folder);
  }
}

/** Deletes folders of exited processes, and day-old folders whose process state is unknown. */
export async function deleteAbandonedScratchFolders(root: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (const name of await readdir(root)) {
    const folder = join(root, name);
    if ((await hasProcessExited(name.slice(0, name.indexOf('.')))) || (await isOld(folder)))
      await deleteScratchFolder(folder);
  }
}

const CLEANUP_MS = 10 * 60_000;

/** Repeats the cleanup until the process ends: other processes that share the folder may be killed. */
export function startScratchCleanup(root: string, log: Logger): { stop(): void } {
  const timer = setInterval(() => {
    deleteAbandonedScratchFolders(root).catch((error: unknown) =>
      log.warn({ err: error }, 'the scratch folders of ended processes could not be deleted'),
    );
  }, CLEANUP_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** Compares the modification times of the folder and its direct entries. */
async function isOld(folder: string): Promise<boolean> {
  const paths = [folder, ...(await readdir(folder).catch(() => [])).map((name) => join(folder, name))];
  // An entry that is deleted meanwhile belongs to a running process.
  const times = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => Date.now(),
      ),
    ),
  );
  return times.every((time) => time < Date.now() - DAY_MS);
}

/** `<pid namespace>-<pid>-<start time>`. Process ids are reused, but not with the same start time. */
const MARK = /^([0-9a-f]{16})-(\d+)-(\d+)$/;

/** The mark of this process; `unknown` on systems without /proc. */
export async function getProcessMark(): Promise<string> {
  const namespace = await readPidNamespace();
  return namespace === undefined
    ? 'unknown'
    : `${namespace}-${process.pid}-${await readStartTime(process.pid)}`;
}

/** False for processes of other machines and containers, whose state is unknown. */
export async function hasProcessExited(mark: string): Promise<boolean> {
  const [, namespace, pid, start] = MARK.exec(mark) ?? [];
  return (
    namespace !== undefined &&
    namespace === (await readPidNamespace()) &&
    (await readStartTime(Number(pid))) !== start
  );
}

/** Hash of the machine's boot id and the PID namespace; undefined without /proc. */
async function readPidNamespace(): Promise<string | undefined> {
  const [boot, namespace] = await Promise.all([
    undefinedIfMissing(readFile('/proc/sys/kernel/random/boot_id', 'utf8')),
    undefinedIfMissing(readlink('/proc/self/ns/pid')),
  ]);
  return boot && namespace && hash('sha256', boot + namespace).slice(0, 16);
}

/** Field 22 of /proc/<pid>/stat: ticks from boot to process start; undefined without the process. */
async function readStartTime(pid: number): Promise<string | undefined> {
  const text = await undefinedIfMissing(readFile(`/proc/${pid}/stat`, 'utf8'));
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

async function undefinedIfMissing(content: Promise<string>): Promise<string | undefined> {
  try {
    return await content;
  } catch (error) {
    if (
      error instanceof Error &&
      'code' in error &&
      ['ENOENT', 'EACCES', 'ESRCH'].includes(String(error.code))
    )
      return undefined;
    throw error;
  }
}
