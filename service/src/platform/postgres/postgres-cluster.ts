// Makes the cluster, all or nothing: PostgreSQL refuses half of one for ever.
import { existsSync } from 'node:fs';
import { chown, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Place } from './postgres-place.ts';
import { runProgram } from './postgres-program.ts';

/** Encoding and collation are named, so that they do not come from the machine's LANG. Trust rests on the closed socket folder. */
const FLAGS = [
  '--username=postgres',
  '--auth-local=trust',
  '--auth-host=reject',
  '--data-checksums',
  '--no-instructions',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/** Demands the folder's lock: then every half cluster is a dead start's. */
export async function ensureCluster(place: Place, initdb: string): Promise<void> {
  await sweepHalves(place.cluster);
  if (existsSync(join(place.cluster, 'PG_VERSION'))) return;
  const half = await mkdtemp(halfPrefix(place.cluster));
  await chown(half, place.owner.uid, place.owner.gid);
  await runProgram(place.owner, initdb, [...FLAGS, '--pgdata', half]);
  await rename(half, place.cluster);
  await syncFolder(dirname(place.cluster));
}

const halfPrefix = (cluster: string) => `${cluster}.init-`;

async function sweepHalves(cluster: string): Promise<void> {
  const home = dirname(cluster);
  const halves = (await readdir(home)).filter((name) => name.startsWith(basename(halfPrefix(cluster))));
  // An initdb that outlived its service may still be writing for a moment: hence the retries.
  await Promise.all(
    halves.map((name) => rm(join(home, name), { recursive: true, force: true, maxRetries: 10 })),
  );
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}
