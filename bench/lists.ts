// Benchmark of asset lists: one million assets, compared with a plain query and with 1000 assets.
import { join } from 'node:path';
import pg from 'pg';
import { seedAssets } from '../service/src/commands/seed.ts';
import { databaseUrlOf, type Environment, startBare, startService, tokenOf } from './environment.ts';
import { request } from './load.ts';
import { type Effort, measurePair, type Side } from './pair.ts';
import { rowOfPair, type Row } from './rows.ts';

const MANY = 1_000_000;
const FEW = 1000;
const PAGE = 50;
const CONNECTIONS = 32;

export async function lists(environment: Environment, effort: Effort): Promise<Row[]> {
  const many = await fillDatabase(environment, MANY);
  const few = await fillDatabase(environment, FEW);
  const bare = await startBare(many.databaseUrl);
  const reference = many.owners.map((owner) => request(`GET /list/${owner}`));
  const list = `list of ${PAGE} of ${MANY} assets, ${CONNECTIONS} connections`;
  const rows = [
    rowOfPair(
      { what: list, against: 'bare Fastify + pg of the same query and columns', goal: '≥ 0.8' },
      await measurePair({
        ...effort,
        connections: CONNECTIONS,
        ours: many.side,
        reference: { server: bare, next: (n) => reference[n % reference.length] as Buffer },
      }),
    ),
    rowOfPair(
      { what: list, against: `the same list of ${FEW} assets`, goal: '≥ 0.8' },
      await measurePair({ ...effort, connections: CONNECTIONS, ours: many.side, reference: few.side }),
    ),
  ];
  await Promise.all([bare, many.side.server, few.side.server].map((server) => server.stop()));
  return [
    ...rows,
    [`seed of ${MANY} assets`, '', `${Math.round(many.seconds)} s`, '', 'npm run seed -- --assets 1000000'],
  ];
}

type FilledDatabase = {
  readonly side: Side;
  readonly databaseUrl: string;
  readonly owners: readonly string[];
  readonly seconds: number;
};

/**
 * Creates a database with this many assets and starts a service on it; the requests list each owner in turn.
 */
async function fillDatabase(environment: Environment, assets: number): Promise<FilledDatabase> {
  const name = `list_${assets}`;
  await inDatabase(environment.databaseUrl, [`create database ${name}`]);
  const databaseUrl = databaseUrlOf(environment.databaseUrl, name);
  const server = await startService(join(environment.folder, name), databaseUrl);
  const start = performance.now();
  await seedAssets({ connection: { connectionString: databaseUrl }, assets });
  const seconds = (performance.now() - start) / 1000;
  const count = Math.min(1000, assets / (2 * PAGE));
  // The seed has 1000 owners. With fewer assets there must be fewer owners, so that each has several pages.
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
