// Finds the service to start: a clone of the repository, and a Node that can run it.
import { access, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { CliError, EXIT, usageError } from '../exit-codes.ts';

export type InstalledService = {
  /** Of the repository. */
  readonly folder: string;
  readonly node: string;
  readonly script: string;
};

const NODE_MAJOR = 24;

const HELP = `Clone the repository, run npm ci in it, and name it: mediary dev --repository <folder>
Or start a container (docker run -p 8080:8080 …), and follow it: mediary dev --url http://127.0.0.1:8080`;

/** `named`: --repository. Else the clone around `folder`, else the one that has this command. */
export async function findService(named: string | undefined, folder: string): Promise<InstalledService> {
  if (named !== undefined) {
    const clone = resolve(folder, named);
    if (await isClone(clone)) return toService(clone);
    throw usageError(`${clone} is not a clone of the Mediary repository: it has no service/start.js.`, HELP);
  }
  for (const candidate of [...withParents(folder), ...withParents(import.meta.dirname)])
    if (await isClone(candidate)) return toService(candidate);
  throw new CliError('mediary dev found no service: this package does not contain it.', EXIT.usage, HELP);
}

function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

async function isClone(folder: string): Promise<boolean> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, 'service/package.json'), 'utf8'));
    await access(join(folder, 'service/start.js'));
    return manifest.name === '@mediary/service';
  } catch {
    return false;
  }
}

async function toService(folder: string): Promise<InstalledService> {
  await access(join(folder, 'node_modules')).catch(() => {
    throw usageError(`The packages of ${folder} are not installed.`, `Run: npm ci --prefix ${folder}`);
  });
  return { folder, node: findNode(folder), script: join(folder, 'service/start.js') };
}

/** The repository installs Node 24 as a package, for machines with an older one. */
function findNode(folder: string): string {
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR) return process.execPath;
  try {
    const name = `node-${process.platform}-${process.arch}/bin/node`;
    return createRequire(join(folder, 'package.json')).resolve(name);
  } catch {
    throw usageError(`The service needs Node ${NODE_MAJOR}; this is ${process.version}. Install Node 24.`);
  }
}
