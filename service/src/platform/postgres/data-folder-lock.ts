// Lets one service at a time use a data folder. The kernel frees the lock when its holder dies, so none is ever stale.
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type FolderLock = { release(): void };

/** Node has no flock: an open transaction on an empty file of SQLite is one, and holds between containers that share the folder too. */
export function lockFolder(folder: string): FolderLock {
  const holder = join(folder, 'service.pid');
  // Nothing else may ever open this file: closing any descriptor of it would free the lock. Hence the second one, for people.
  const lock = openLock(join(folder, 'service.lock'), () => inUse(folder, holder));
  writeFileSync(holder, `${process.pid}\n`, { mode: PRIVATE });
  chmodSync(holder, PRIVATE);
  const release = () => {
    if (!lock.isOpen) return;
    rmSync(holder, { force: true });
    lock.close();
  };
  return { release };
}

/** For the service's user alone, also where an earlier release made them open to others. */
const PRIVATE = 0o600;
const BUSY = 5;
/** The write, which is never committed, fails where a file that cannot be written would only be share-locked. */
const TAKE = 'pragma journal_mode = memory; begin exclusive; pragma user_version = 1';

function openLock(file: string, refusal: () => Error): DatabaseSync {
  try {
    const lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec(TAKE);
    // By its path: a descriptor of the file that is closed would free the lock.
    chmodSync(file, PRIVATE);
    return lock;
  } catch (cause) {
    if (isBusy(cause)) throw refusal();
    throw new Error(`${file} cannot be locked. Does it belong to another user?`, { cause });
  }
}

const isBusy = (error: unknown) => error instanceof Error && 'errcode' in error && error.errcode === BUSY;

function inUse(folder: string, holder: string): Error {
  const process = existsSync(holder) ? ` (process ${readFileSync(holder, 'utf8').trim()})` : '';
  return new Error(
    `Another Mediary${process} is using ${folder}. Stop it, or set DATA_DIR to another folder.`,
  );
}
