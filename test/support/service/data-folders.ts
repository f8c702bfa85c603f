// Data folders of services.
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyMigratedCluster } from '../postgres/migrated-cluster.ts';

/**
 * Open to others: root's database server runs as somebody else, and would otherwise lie outside and stay
 * there.
 */
export async function newDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-test-'));
  await chmod(folder, 0o755);
  return folder;
}

/** The same, with a migrated database cluster. */
export async function newDatabaseDir(): Promise<string> {
  const folder = await newDataDir();
  await copyMigratedCluster(folder);
  return folder;
}
