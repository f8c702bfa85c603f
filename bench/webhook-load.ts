// Webhook load test: shuffled and repeated signed reports to three service processes.
// Every asset must reach the state that a sequential model predicts.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import pg from 'pg';
import { toSecret } from '../service/src/auth/secret.ts';
import { startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { signOnprem } from '../service/src/providers/onprem/onprem-signature.ts';
import { urlOf } from '../test/support/postgres/postgres.ts';
import { predictState, type Report } from '../test/support/providers/report-model.ts';
import { makeAssets, makeBareRows, ONPREM_SECRET, startBare, startService, tokenOf } from './environment.ts';
import { request, run } from './load.ts';
import type { Server } from './processes.ts';

const DELIVERIES = 100_000;
const ASSETS = 1000;
const CONNECTIONS = 64;
const PROCESSES = 3;
const SEED = Number(process.env['MEDIARY_SEED'] ?? Date.now() % 2 ** 31);

type AssetReports = { readonly id: string; readonly reports: readonly Report[] };
type AssetReport = { readonly id: string; readonly report: Report };

const rendition = fc.record({
  height: fc.constantFrom(240, 360, 720),
  state: fc.constantFrom('queued', 'encoding', 'failed', 'ready'),
});
const differentReports = (attempt: fc.Arbitrary<number | undefined>): fc.Arbitrary<Report[]> =>
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
const reportsOfAsset = fc
  .oneof(differentReports(fc.constantFrom(1, 2, 3)), differentReports(fc.constant(undefined)))
  .chain((different) =>
    fc.array(fc.constantFrom(...different), {
      minLength: DELIVERIES / ASSETS,
      maxLength: DELIVERIES / ASSETS,
    }),
  );

function shuffle<T>(items: readonly T[]): T[] {
  const [order = []] = fc.sample(
    fc.array(fc.nat(), { minLength: items.length, maxLength: items.length, size: 'max' }),
    { numRuns: 1, seed: SEED },
  );
  return items
    .map((item, index) => ({ item, key: order[index] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

function buildSignedRequest({ id, report }: AssetReport): Buffer {
  const body = JSON.stringify({ asset_id: id, ...report });
  return request(
    'POST /api/v1/webhooks/stream/onprem',
    {
      'content-type': 'application/json',
      'x-onprem-signature': signOnprem(Buffer.from(body), toSecret(ONPREM_SECRET)),
    },
    body,
  );
}

function* signedRequests(queue: readonly AssetReport[]): Generator<Buffer> {
  for (const entry of queue) yield buildSignedRequest(entry);
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

/** The ids of assets whose state differs from the prediction. */
async function findWrongAssets(client: pg.Client, expected: readonly AssetReports[]): Promise<string[]> {
  const { rows } = await client.query<{ id: string; renditions: { height: number; state: string }[] }>(
    'select id, stream_status as status, attempt, progress, renditions from assets where id = any($1)',
    [expected.map(({ id }) => id)],
  );
  const actual = new Map(
    rows.map(({ id, renditions, ...state }) => {
      const texts = renditions.map((rendition) => `${rendition.height} ${rendition.state}`);
      return [id, { ...state, renditions: texts.sort() }];
    }),
  );
  return expected
    .filter(({ id, reports }) => !isDeepStrictEqual(actual.get(id), predictState(NEW_ASSET, reports)))
    .map(({ id }) => id);
}

const NEW_ASSET = { stream_status: 'pending_upload', attempt: 1, refused: false };

/** Requests for the reference server: one-row updates. */
const updateRequests = (ids: readonly string[]): Buffer[] =>
  Array.from({ length: 20_000 }, (_, n) =>
    request(
      'POST /update',
      { 'content-type': 'application/json' },
      JSON.stringify({ id: ids[n % ids.length], status: n % 2 ? 'ready' : 'processing' }),
    ),
  );

const startAll = (start: () => Promise<Server>, count: number): Promise<Server[]> =>
  Promise.all(Array.from({ length: count }, start));

const folder = await mkdtemp(join(tmpdir(), 'mediary-webhook-load-'));
await chmod(folder, 0o755);
const postgres = await startEmbeddedPostgres(folder);
const databaseUrl = urlOf(postgres);
// The first process migrates the database; the others start together.
const first = await startService(folder, databaseUrl);
const services = [first, ...(await startAll(() => startService(folder, databaseUrl), PROCESSES - 1))];
const ids = await makeAssets(first, tokenOf('webhook-load'), ASSETS);
const assets = fc
  .sample(reportsOfAsset, { numRuns: ASSETS, seed: SEED })
  .map((reports, index): AssetReports => ({ id: ids[index] as string, reports }));
const queue = shuffle(assets.flatMap(({ id, reports }) => reports.map((report) => ({ id, report }))));
process.stdout.write(
  `${queue.length} deliveries for ${ASSETS} assets, ${CONNECTIONS} connections, ${PROCESSES} processes. ` +
    `Repeat with MEDIARY_SEED=${SEED}\n`,
);
const deliveriesPerSecond = await send(services, signedRequests(queue));

const client = new pg.Client({ connectionString: databaseUrl });
await client.connect();
const wrong = await findWrongAssets(client, assets);
const {
  rows: [{ deadlocks, recorded }],
} = await client.query(
  `select (select deadlocks::int from pg_stat_database where datname = current_database()),
          (select count(*)::int as recorded from deliveries)`,
);
await makeBareRows(databaseUrl, ids);
const bare = await startAll(() => startBare(databaseUrl), PROCESSES);
const updatesPerSecond = await send(bare, updateRequests(ids).values());
await client.end();
await Promise.all([...services, ...bare].map((server) => server.stop()));
await postgres.stop();
await rm(folder, { recursive: true, force: true });

const ratio = (deliveriesPerSecond / updatesPerSecond).toFixed(2);
process.stdout.write(
  [
    `${Math.round(deliveriesPerSecond)} deliveries/s to ${Math.round(updatesPerSecond)} one-row updates/s: ` +
      `ratio ${ratio}`,
    `${recorded} deliveries recorded, ${wrong.length} assets in a wrong state, ${deadlocks} deadlocks`,
    '',
  ].join('\n'),
);
if (wrong.length > 0 || deadlocks > 0 || recorded !== queue.length) {
  process.stdout.write(`Assets in a wrong state: ${wrong.slice(0, 10).join(', ')}\n`);
  process.exitCode = 1;
}
