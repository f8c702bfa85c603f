// An exclusive lock on a data folder. The kernel releases it when the process dies, so it is never stale.
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type FolderLock = { release(): void };

/**
 * Node has no flock(). An open exclusive transaction on an empty SQLite file does the same, also between
 * containers that share the folder.
 */
export function lockFolder(folder: string): FolderLock {
  const holder = join(folder, 'service.pid');
  // Closing any descriptor of the lock file would release the lock, so the process id goes into a second
  // file.
  const lock = openLock(join(folder, 'service.lock'), () => buildInUseError(folder, holder));
  writeFileSync(holder, `${process.pid}\n`, { mode: PRIVATE });
  chmodSync(holder, PRIVATE);
  const release = () => {
    if (!lock.isOpen) return;
    rmSync(holder, { force: true });
    lock.close();
  };
  return { release };
}

/** Also applied to existing files, which earlier releases created with wider permissions. */
const PRIVATE = 0o600;
const BUSY = 5;
/**
 * The uncommitted write makes a read-only file fail; "begin exclusive" alone would take only a shared lock on
 * it.
 */
const ACQUIRE = 'pragma journal_mode = memory; begin exclusive; pragma user_version = 1';

function openLock(file: string, createBusyError: () => Error): DatabaseSync {
  try {
    const lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec(ACQUIRE);
    // chmod by path: closing a descriptor of this file would release the lock.
    chmodSync(file, PRIVATE);
    return lock;
  } catch (cause) {
    if (isBusy(cause)) throw createBusyError();
    throw new Error(`${file} cannot be locked. Check that this user owns it.`, { cause });
  }
}

const isBusy = (error: unknown) => error instanceof Error && 'errcode' in error && error.errcode === BUSY;

function buildInUseError(folder: string, holder: string): Error {
  const process = existsSync(holder) ? ` (process ${readFileSync(holder, 'utf8').trim()})` : '';
  const message = `Another service${process} is using ${folder}. Stop it, or set DATA_DIR to another folder.`;
  return Object.assign(new Error(message), { code: IN_USE });
}

const IN_USE = 'FOLDER_IN_USE';
export const isInUse = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === IN_USE;
