// Measures what docs/scaling.md states: `npm run bench:scaling -- sizes idle throughput workers`.
// MEDIARY_SCALE_ASSETS is the largest number of assets.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { urlOf } from '../test/support/postgres/postgres.ts';
import { prepareTemporaryFolder } from '../test/support/tree/temporary-folder.ts';
import { databaseUrlOf } from './environment.ts';
import { measureIdle } from './scaling-idle.ts';
import { measureSizes } from './scaling-sizes.ts';
import { measureProcesses, measureWorkers } from './scaling-throughput.ts';

export type ScalingContext = {
  readonly folder: string;
  readonly largest: number;
  /** An empty database, and a client that is connected to it. */
  open(name: string): Promise<ScalingDatabase>;
};
export type ScalingDatabase = { readonly url: string; readonly client: pg.Client };

const PARTS = {
  sizes: measureSizes,
  idle: measureIdle,
  throughput: measureProcesses,
  workers: measureWorkers,
} as const;
type PartName = keyof typeof PARTS;

/** The library that counts statements is loaded when the server starts. */
async function startPostgres(folder: string): Promise<EmbeddedPostgres> {
  const first = await startEmbeddedPostgres(folder);
  const client = new pg.Client(first.connection);
  await client.connect();
  await client.query("alter system set shared_preload_libraries = 'pg_stat_statements'");
  await client.end();
  await first.stop();
  return startEmbeddedPostgres(folder);
}

async function openDatabase(postgres: EmbeddedPostgres, name: string): Promise<ScalingDatabase> {
  const admin = new pg.Client(postgres.connection);
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const client = new pg.Client({ ...postgres.connection, database: name, application_name: 'bench' });
  await client.connect();
  await client.query('create extension pg_stat_statements');
  return { url: databaseUrlOf(urlOf(postgres), name), client };
}

async function measure(names: readonly PartName[]): Promise<void> {
  const folder = await mkdtemp(join(prepareTemporaryFolder(), 'scaling-'));
  await chmod(folder, 0o755);
  const postgres = await startPostgres(folder);
  const clients: pg.Client[] = [];
  const context: ScalingContext = {
    folder,
    largest: Number(process.env['MEDIARY_SCALE_ASSETS'] ?? 1_000_000),
    open: async (name) => {
      const database = await openDatabase(postgres, name);
      clients.push(database.client);
      return database;
    },
  };
  try {
    for (const name of names) process.stdout.write(`\n## ${name}\n\n${await PARTS[name](context)}\n`);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in PARTS));
if (unknown.length > 0)
  throw new Error(`Unknown: ${unknown.join(', ')}. Parts: ${Object.keys(PARTS).join(', ')}`);
await measure((names.length > 0 ? names : Object.keys(PARTS)) as PartName[]);
