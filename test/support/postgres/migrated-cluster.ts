// A database cluster with all tables and queues, created once on this machine and copied for each service.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, lstatSync, readFileSync } from 'node:fs';
import { appendFile, chmod } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { findInstalledPackage } from '@mediary/embedded-postgres/binaries';
import { startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import type { Connection } from '../../../service/src/platform/postgres/connection.ts';
import { createOnce } from '../../../packages/testing/src/create-once.ts';
import { keptFolder } from '../tree/temporary-folder.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../../..');
/** A change of any of these files needs another cluster. */
const SOURCES = [
  import.meta.filename,
  join(findInstalledPackage(), 'package.json'),
  join(ROOT, 'node_modules/pg-boss/package.json'),
  ...globSync(
    [
      'packages/embedded-postgres/src/{cluster,launcher}.ts',
      'service/src/platform/postgres/{migrate,migration-files}.ts',
      'service/src/platform/jobs/{open-boss,job-order}.ts',
      'service/src/jobs.ts',
      'service/migrations/*.sql',
    ],
    {
      cwd: ROOT,
    },
  )
    .sort()
    .map((file) => join(ROOT, file)),
];
/** The name of the cluster in a data folder. */
const CLUSTER = 'postgres';

/** Each server starts four processes less: tests start hundreds of servers. */
const FEWER_PROCESSES = `
io_method = sync
max_logical_replication_workers = 0
`;

/** Puts a migrated cluster into an empty data folder, so that the service starts without initdb. */
export async function copyMigratedCluster(dataDir: string): Promise<void> {
  const cluster = join(await prepareTemplate(), CLUSTER);
  // A link: the server's user cannot enter the temporary folder. The service then creates its own cluster.
  if (lstatSync(cluster).isSymbolicLink()) return;
  await run('cp', ['-a', cluster, join(dataDir, CLUSTER)]);
}

/** Returns the data folder of the template; of two concurrent calls the first one to finish stays. */
async function prepareTemplate(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of SOURCES)
    hash
      .update(`${file.slice(ROOT.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  const owner = process.getuid?.() ?? 0;
  const template = join(keptFolder(), `mediary-cluster-${owner}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(template)) return template;
  await createOnce(template, async (unfinished) => {
    await chmod(unfinished, 0o755);
    const { connection, stop } = await startEmbeddedPostgres(unfinished);
    await createTables(connection)
      .then(() => dropTemplate(connection))
      .finally(stop);
    await appendFile(join(unfinished, CLUSTER, 'postgresql.conf'), FEWER_PROCESSES);
  });
  return template;
}

/** Nobody creates a database from it, and each copy of the cluster would contain its 300 files. */
async function dropTemplate(connection: Connection): Promise<void> {
  const client = new pg.Client({ ...connection, database: 'postgres' });
  await client.connect();
  await client.query("update pg_database set datistemplate = false where datname = 'template0'");
  await client.query('drop database template0').finally(() => client.end());
}

/** The tables do not depend on them. */
const REQUIRED_SETTINGS = {
  ACCESS_TOKEN_SECRET: 'template-access-token-secret-0123456789',
  SERVICE_API_KEY: 'template-service-key-0123456789',
  OPERATOR_KEY: 'template-operator-key-0123456789',
};

/** As the first start of a service does. */
async function createTables(connection: Connection): Promise<void> {
  const [{ openDatabaseAndJobs }, { readConfig }, { createLogger }, { createMetrics }] = await Promise.all([
    import('../../../service/src/adapters-database.ts'),
    import('../../../service/src/config.ts'),
    import('../../../service/src/platform/observability/logger.ts'),
    import('../../../service/src/platform/observability/metrics.ts'),
  ]);
  const { db, jobs, channels } = await openDatabaseAndJobs(
    connection,
    readConfig(REQUIRED_SETTINGS, (path) => path),
    {
      log: createLogger('silent'),
      metrics: createMetrics(),
    },
  );
  await jobs.stop();
  await channels.close();
  await db.close();
}
