// Webhook load test: shuffled and repeated signed reports to three service processes. Every asset must reach the state that a sequential model predicts.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { toSecret } from '../service/src/auth/secret.ts';
import { startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { signOnprem } from '../service/src/providers/onprem/onprem-signature.ts';
import { urlOf } from '../test/support/postgres.ts';
import { foretell, type Said } from '../test/support/report-model.ts';
import { makeAssets, makeBareRows, ONPREM_SECRET, startBare, startService, tokenOf } from './ground.ts';
import { request, run } from './load.ts';
import type { Server } from './processes.ts';

const DELIVERIES = 100_000;
const ASSETS = 1000;
const CONNECTIONS = 64;
const PROCESSES = 3;
const SEED = Number(process.env['MEDIARY_SEED'] ?? Date.now() % 2 ** 31);

type Storm = { readonly id: string; readonly said: readonly Said[] };

const rendition = fc.record({
  height: fc.constantFrom(240, 360, 720),
  state: fc.constantFrom('queued', 'encoding', 'failed', 'ready'),
});
const reports = (attempt: fc.Arbitrary<number | undefined>): fc.Arbitrary<Said[]> =>
  fc.array(
    fc.record({
      status: fc.constantFrom('processing', 'processing', 'failed', 'ready'),
      attempt,
      progress: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
      renditions: fc.option(fc.array(rendition, { maxLength: 3 }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 12 },
  );

/** About ten different reports of an asset, most of them sent several times, with or without an attempt. */
const ofOneAsset = fc
  .oneof(reports(fc.constantFrom(1, 2, 3)), reports(fc.constant(undefined)))
  .chain((different) =>
    fc.array(fc.constantFrom(...different), {
      minLength: DELIVERIES / ASSETS,
      maxLength: DELIVERIES / ASSETS,
    }),
  );

function shuffled<T>(items: readonly T[]): T[] {
  const [order = []] = fc.sample(
    fc.array(fc.nat(), { minLength: items.length, maxLength: items.length, size: 'max' }),
    { numRuns: 1, seed: SEED },
  );
  return items
    .map((item, index) => ({ item, key: order[index] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

function signed({ id, said }: { id: string; said: Said }): Buffer {
  const body = JSON.stringify({ asset_id: id, ...said });
  return request(
    'POST /api/v1/webhooks/stream/onprem',
    {
      'content-type': 'application/json',
      'x-onprem-signature': signOnprem(Buffer.from(body), toSecret(ONPREM_SECRET)),
    },
    body,
  );
}

function* signedEach(queue: readonly { id: string; said: Said }[]): Generator<Buffer> {
  for (const one of queue) yield signed(one);
}

/** All connections share one queue; returns the throughput per second. */
async function send(servers: readonly Server[], queue: Iterator<Buffer>): Promise<number> {
  const next = () => queue.next().value as Buffer | undefined;
  const begun = performance.now();
  const loads = servers.map(({ port }, index) =>
    run({ port, connections: Math.floor((CONNECTIONS + index) / servers.length), seconds: 3600, next }),
  );
  const sent = (await Promise.all(loads)).reduce((sum, { requests }) => sum + requests, 0);
  return sent / ((performance.now() - begun) / 1000);
}

async function wrongEndings(client: pg.Client, storms: readonly Storm[]): Promise<string[]> {
  const { rows } = await client.query(
    'select id, stream_status as status, attempt, progress, renditions from assets where id = any($1)',
    [storms.map(({ id }) => id)],
  );
  const endings = new Map(
    rows.map(({ id, renditions, ...ending }) => [
      id,
      {
        ...ending,
        renditions: renditions
          .map((one: { height: number; state: string }) => `${one.height} ${one.state}`)
          .sort(),
      },
    ]),
  );
  return storms
    .filter(
      ({ id, said }) =>
        JSON.stringify(sorted(endings.get(id))) !==
        JSON.stringify(
          sorted(foretell({ stream_status: 'pending_upload', attempt: 1, refused: false }, said)),
        ),
    )
    .map(({ id }) => id);
}

const sorted = (value: object) => Object.entries(value).sort(([a], [b]) => a.localeCompare(b));

const folder = await mkdtemp(join(tmpdir(), 'mediary-storm-'));
await chmod(folder, 0o755);
const postgres = await startEmbeddedPostgres(folder);
const databaseUrl = urlOf(postgres);
const first = await startService(folder, databaseUrl);
const services = [
  first,
  ...(await Promise.all(Array.from({ length: PROCESSES - 1 }, () => startService(folder, databaseUrl)))),
];
const ids = await makeAssets(first, tokenOf('storm'), ASSETS);
const storms = fc
  .sample(ofOneAsset, { numRuns: ASSETS, seed: SEED })
  .map((said, index): Storm => ({ id: ids[index] as string, said }));
const queue = shuffled(storms.flatMap(({ id, said }) => said.map((one) => ({ id, said: one }))));
process.stdout.write(
  `${queue.length} deliveries for ${ASSETS} assets, ${CONNECTIONS} connections, ${PROCESSES} processes (MEDIARY_SEED=${SEED})\n`,
);
const perSecond = await send(services, signedEach(queue));

const client = new pg.Client({ connectionString: databaseUrl });
await client.connect();
const wrong = await wrongEndings(client, storms);
const {
  rows: [{ deadlocks, kept }],
} = await client.query(
  'select (select deadlocks::int from pg_stat_database where datname = current_database()), (select count(*)::int as kept from deliveries)',
);
await makeBareRows(databaseUrl, ids);
const bare = await Promise.all(Array.from({ length: PROCESSES }, () => startBare(databaseUrl)));
const updates = Array.from({ length: 20_000 }, (_, n) =>
  request(
    'POST /update',
    { 'content-type': 'application/json' },
    JSON.stringify({ id: ids[n % ids.length], status: n % 2 ? 'ready' : 'processing' }),
  ),
);
const limit = await send(bare, updates.values());
await client.end();
await Promise.all([...services, ...bare].map((server) => server.stop()));
await postgres.stop();
await rm(folder, { recursive: true, force: true });

process.stdout.write(
  `${Math.round(perSecond)} deliveries/s, bare one-row UPDATE ${Math.round(limit)}/s: ${(perSecond / limit).toFixed(2)}\n${kept} deliveries kept, ${wrong.length} assets at a wrong end, ${deadlocks} deadlocks\n`,
);
if (wrong.length > 0 || deadlocks > 0 || kept !== queue.length) {
  process.stdout.write(`wrong: ${wrong.slice(0, 10).join(', ')}\n`);
  process.exitCode = 1;
}
