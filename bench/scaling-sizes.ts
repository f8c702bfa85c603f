// Bytes of each table and index, and the time of requests, with a thousand assets and up to millions.
import { seedAssets } from '../service/src/commands/seed.ts';
import { bearerOf } from './cases.ts';
import { SECRETS, startService, tokenOf } from './environment.ts';
import { request, run } from './load.ts';
import type { ScalingContext, ScalingDatabase } from './scaling.ts';

const SMALLEST = 1000;
const SECONDS = 5;

export async function measureSizes({ folder, largest, open }: ScalingContext): Promise<string> {
  const lines = [
    '| assets | get | list of 50 | list with a tag | metrics | seed |',
    '|---|---|---|---|---|---|',
  ];
  let bytes = '';
  for (let assets = SMALLEST; assets <= largest; assets *= 10) {
    const database = await open(`sizes_${assets}`);
    const service = await startService(folder, database.url);
    const start = performance.now();
    await seedAssets({ connection: { connectionString: database.url }, assets });
    const seconds = (performance.now() - start) / 1000;
    const times = await measureRequests(service.port, database);
    await service.stop();
    lines.push(`| ${assets} | ${times.join(' | ')} | ${seconds.toFixed(0)} s |`);
    bytes = await readBytes(database, assets);
  }
  return `${lines.join('\n')}\n\n${bytes}`;
}

/** One request at a time: the time is that of the service, and not of a queue. */
async function measureRequests(port: number, { client }: ScalingDatabase): Promise<string[]> {
  const owner = 'owner-7';
  const { rows } = await client.query('select id from assets where owner_user_id = $1 limit 1', [owner]);
  const headers = bearerOf(tokenOf(owner));
  const targets = [
    request(`GET /api/v1/media/${rows[0].id}`, headers),
    request('GET /api/v1/media?limit=50', headers),
    request('GET /api/v1/media?limit=50&tag=tag-7', headers),
    request('GET /metrics', { 'x-operator-key': SECRETS.OPERATOR_KEY }),
  ];
  const times: string[] = [];
  for (const target of targets) {
    const { p50, p99 } = await run({ port, connections: 1, seconds: SECONDS, next: () => target });
    times.push(`${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  }
  return times;
}

async function readBytes({ client }: ScalingDatabase, assets: number): Promise<string> {
  const { rows } = await client.query<{ table: string; name: string; bytes: string }>(
    `select coalesce(indrelid, c.oid)::regclass::text as "table", c.relname as name,
            case when relkind = 'r' then pg_table_size(c.oid) else pg_relation_size(c.oid) end as bytes
       from pg_class c left join pg_index on indexrelid = c.oid
      where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace
      order by bytes desc`,
  );
  const large = rows.filter(({ bytes }) => Number(bytes) / assets >= 1);
  const lines = large.map(
    ({ table, name, bytes }) => `| ${table} | ${name} | ${(Number(bytes) / assets).toFixed(0)} |`,
  );
  return ['| table | table or index | bytes per asset |', '|---|---|---|', ...lines].join('\n');
}
