// Lets one service at a time use a data folder. The kernel frees the lock when its holder dies, so none is ever stale.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type FolderLock = { release(): void };

const BUSY = 5;

/** Node has no flock: an open transaction of SQLite on an empty file is one, also between containers that share the folder. */
export function lockFolder(folder: string): FolderLock {
  // Nothing else may ever open this file: closing any descriptor of it would free the lock. Hence the second file.
  const lock = join(folder, 'service.lock');
  const holder = join(folder, 'service.pid');
  const database = takeLock(lock, () => inUse(folder, holder));
  writeFileSync(holder, `${process.pid}\n`);
  const release = () => {
    if (!database.isOpen) return;
    rmSync(holder, { force: true });
    database.close();
  };
  return { release };
}

function takeLock(file: string, refusal: () => Error): DatabaseSync {
  try {
    const database = new DatabaseSync(file, { timeout: 0 });
    database.exec('pragma journal_mode = memory; begin exclusive');
    return database;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) throw refusal();
    throw new Error(`${file} cannot be locked`, { cause: error });
  }
}

function inUse(folder: string, holder: string): Error {
  return new Error(`Another Mediary (process ${readFileSync(holder, 'utf8').trim()}) is using ${folder}. Stop it, or set DATA_DIR to another folder.`);
}
