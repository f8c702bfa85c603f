// Starts one PostgreSQL server for a suite. Services and tests get databases of their own in it.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import type { TestProject } from 'vitest/node';
import { copyMigratedCluster } from './migrated-cluster.ts';

/** The databases are thrown away, so nothing waits for the disk, and they live too shortly to be vacuumed. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off', max_connections: '400' };

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined in suites whose services start servers of their own. */
    postgres: EmbeddedPostgres['connection'] | undefined;
  }
}

/** Returns what stops the server. */
export async function setup({ config, provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(config.env['TMPDIR'] ?? tmpdir(), 'mediary-postgres-'));
  await chmod(folder, 0o755);
  await copyMigratedCluster(folder);
  const server = await startEmbeddedPostgres(folder, { settings: SETTINGS });
  provide('postgres', server.connection);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
