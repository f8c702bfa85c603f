// Creates the cluster atomically: initdb never continues an incomplete one.
import { existsSync } from 'node:fs';
import { chown, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ClusterLayout } from './layout.ts';
import { runProgram } from './program.ts';

/**
 * Encoding and locale are explicit, because initdb would take them from LANG. "trust" is safe: only the owner
 * can open the socket folder.
 */
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

/**
 * Requires the folder lock: every incomplete cluster is then left over from a killed start. `onCreate` is
 * called before a cluster is created, which takes seconds.
 */
export async function ensureCluster(
  layout: ClusterLayout,
  initdb: string,
  onCreate: (cluster: string) => void = () => {},
): Promise<void> {
  await removeIncompleteClusters(layout.cluster);
  if (isCluster(layout.cluster)) return;
  onCreate(layout.cluster);
  const incomplete = await mkdtemp(incompletePrefix(layout.cluster));
  await chown(incomplete, layout.owner.uid, layout.owner.gid);
  await runProgram(layout.owner, initdb, [...FLAGS, '--pgdata', incomplete]);
  await rename(incomplete, layout.cluster);
  await syncFolder(dirname(layout.cluster));
}

export const isCluster = (folder: string): boolean => existsSync(join(folder, 'PG_VERSION'));

export const incompletePrefix = (cluster: string): string => `${cluster}.init-`;

export async function removeIncompleteClusters(cluster: string): Promise<void> {
  const home = dirname(cluster);
  const incomplete = (await readdir(home)).filter((name) =>
    name.startsWith(basename(incompletePrefix(cluster))),
  );
  // An initdb that outlived its service may still write for a moment, hence the retries.
  await Promise.all(
    incomplete.map((name) => rm(join(home, name), { recursive: true, force: true, maxRetries: 10 })),
  );
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}
