// Benchmark of asset lists with 50 items: one million assets compared with a plain query and with 1000 assets.
import { join } from 'node:path';
import pg from 'pg';
import { seedAssets } from '../service/src/commands/seed.ts';
import { databaseUrlOf, type Ground, startBare, startService, tokenOf } from './ground.ts';
import { request } from './load.ts';
import { type Effort, measurePair, type Side } from './pair.ts';
import { ofPair, type Row } from './rows.ts';

const MANY = 1_000_000;
const FEW = 1000;
const PAGE = 50;
const CONNECTIONS = 32;

export async function lists(ground: Ground, effort: Effort): Promise<Row[]> {
  const many = await filled(ground, MANY);
  const few = await filled(ground, FEW);
  const bare = await startBare(many.databaseUrl);
  const limit = many.owners.map((owner) => request(`GET /list/${owner}`));
  const list = `list of ${PAGE} of ${MANY} assets, ${CONNECTIONS} connections`;
  const rows = [
    ofPair(
      { what: list, against: 'bare Fastify + pg of the same query and columns', goal: '≥ 0.8' },
      await measurePair({
        ...effort,
        connections: CONNECTIONS,
        ours: many.side,
        limit: { server: bare, next: (n) => limit[n % limit.length] as Buffer },
      }),
    ),
    ofPair(
      { what: list, against: `the same of ${FEW} assets`, goal: '≥ 0.8' },
      await measurePair({ ...effort, connections: CONNECTIONS, ours: many.side, limit: few.side }),
    ),
  ];
  await Promise.all([bare, many.side.server, few.side.server].map((server) => server.stop()));
  return [
    ...rows,
    [
      `fill a database with ${MANY} assets`,
      '',
      `${Math.round(many.seconds)} s`,
      '',
      'npm run seed -- --assets 1000000',
    ],
  ];
}

type Filled = {
  readonly side: Side;
  readonly databaseUrl: string;
  readonly owners: readonly string[];
  readonly seconds: number;
};

/** Starts a database with this many assets and a service on it, and lists the assets of one owner after the other. */
async function filled(ground: Ground, assets: number): Promise<Filled> {
  const name = `list_${assets}`;
  await inDatabase(ground.databaseUrl, [`create database ${name}`]);
  const databaseUrl = databaseUrlOf(ground.databaseUrl, name);
  const server = await startService(join(ground.folder, name), databaseUrl);
  const begun = performance.now();
  await seedAssets({ connection: { connectionString: databaseUrl }, assets });
  const seconds = (performance.now() - begun) / 1000;
  const count = Math.min(1000, assets / (2 * PAGE));
  // The seed is for 1000 owners; fewer owners share the assets here, so that each has several pages.
  if (count < 1000)
    await inDatabase(databaseUrl, [
      `update assets set owner_user_id = 'owner-' || substring(filename, '\\d+')::int % ${count}`,
      'vacuum full analyze assets',
    ]);
  const owners = Array.from({ length: count }, (_, n) => `owner-${n}`);
  const requests = owners.map((owner) =>
    request(`GET /api/v1/media?limit=${PAGE}`, { authorization: `Bearer ${tokenOf(owner)}` }),
  );
  return {
    databaseUrl,
    owners,
    seconds,
    side: { server, next: (n) => requests[n % requests.length] as Buffer },
  };
}

async function inDatabase(databaseUrl: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
