// What two API processes and two workers without work cost: statements, connections and memory.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startService } from './environment.ts';
import type { Server } from './processes.ts';
import type { ScalingContext, ScalingDatabase } from './scaling.ts';

const SETTLE_MS = 30_000;
const WINDOW_S = 60;
const MIB = 2 ** 20;

type NamedServer = { readonly name: string; readonly server: Server };

export async function measureIdle({ folder, open }: ScalingContext): Promise<string> {
  const database = await open('idle');
  const first = await startNamed(database, folder, { name: 'api-1' });
  const others = await Promise.all(
    ['api-2', 'worker-1', 'worker-2'].map((name) =>
      startNamed(database, folder, { name, api: first.server }),
    ),
  );
  const servers = [first, ...others];
  await delay(SETTLE_MS);
  await database.client.query('select pg_stat_statements_reset()');
  const wal = await readWal(database);
  const cpu = servers.map(({ server }) => server.treeCpuSeconds());
  await delay(WINDOW_S * 1000);
  const statements = await readStatements(database);
  const walBytes = (await readWal(database)) - wal;
  const lines = ['| process | connections | PSS, MiB | private, MiB | CPU |', '|---|---|---|---|---|'];
  for (const [index, { name, server }] of servers.entries()) {
    const share = (server.treeCpuSeconds() - (cpu[index] ?? 0)) / WINDOW_S;
    const mib = [server.proportionalBytes(), server.privateBytes()].map((bytes) => (bytes / MIB).toFixed(0));
    const cells = [name, await countConnections(database, name), ...mib, `${(100 * share).toFixed(1)} %`];
    lines.push(`| ${cells.join(' | ')} |`);
  }
  await Promise.all(servers.map(({ server }) => server.stop()));
  return `${lines.join('\n')}\n\nWAL: ${(walBytes / WINDOW_S).toFixed(0)} bytes/s\n\n${statements}`;
}

type NewServer = { readonly name: string; readonly api?: Server };

/** PostgreSQL shows the name of the process at its connections. */
async function startNamed(
  { url }: ScalingDatabase,
  folder: string,
  { name, api }: NewServer,
): Promise<NamedServer> {
  const worker = { MEDIARY_ROLE: 'worker', ENCODER_CALLBACK_URL: `http://127.0.0.1:${api?.port}` };
  const server = await startService(folder, `${url}&application_name=${name}`, {
    DATA_DIR: join(folder, name),
    STORAGE_URL: `file://${join(folder, 'idle-store')}`,
    ...(name.startsWith('worker') && worker),
  });
  return { name, server };
}

async function readWal({ client }: ScalingDatabase): Promise<number> {
  const { rows } = await client.query("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes");
  return Number(rows[0].bytes);
}

async function countConnections({ client }: ScalingDatabase, name: string): Promise<number> {
  const query = 'select count(*)::int as count from pg_stat_activity where application_name = $1';
  return (await client.query(query, [name])).rows[0].count;
}

async function readStatements({ client }: ScalingDatabase): Promise<string> {
  const { rows } = await client.query<{ query: string; calls: string; mean: number }>(
    `select regexp_replace(query, '\\s+', ' ', 'g') as query, sum(calls) as calls,
            sum(total_exec_time) / sum(calls) as mean
       from pg_stat_statements join pg_database on pg_database.oid = dbid
      where datname = current_database() and query not like '%pg_stat_statements%'
      group by 1 order by 2 desc`,
  );
  const perSecond = (calls: string) => (Number(calls) / WINDOW_S).toFixed(2);
  const total = rows.reduce((sum, { calls }) => sum + Number(calls), 0);
  const lines = rows.map(
    ({ query, calls, mean }) =>
      `| ${perSecond(calls)} | ${mean.toFixed(2)} ms | ${query.trim().slice(0, 130).replaceAll('|', '/')} |`,
  );
  return [
    `${perSecond(String(total))} statements/s`,
    '',
    '| per second | time | statement |',
    '|---|---|---|',
    ...lines,
  ].join('\n');
}
