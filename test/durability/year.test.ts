// A service that works for a year at a steady rate keeps its database bounded. Its clocks are moved.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leaseDatabaseHost } from '../../packages/testing/src/database-host.ts';
import { startMediary, type TestMediary } from '../../packages/testing/src/start-mediary.ts';
import { JOB_SETTINGS } from '../../service/src/jobs.ts';
import { doWork, startPeer, type WorkPlace } from '../support/year/day-of-work.ts';
import { largestOf, listMonths, measureTables, type TableSizes } from '../support/year/table-sizes.ts';

const DAYS = 364;
const STEP_DAYS = 7;
const STEPS = DAYS / STEP_DAYS;
const SETTINGS = {
  EVENT_RETENTION_DAYS: '60',
  TRASH_DAYS: '14',
  OUTBOUND_ALLOW_PRIVATE: 'webhooks,import',
  WEBHOOKS_ALLOW_UNSIGNED: 'edgehost',
  RATE_LIMIT_PER_OWNER: '100000/m',
  CONSOLE: 'on',
};

/** Tables that grow with the library or by what operators do, and why. */
const GROWING: Readonly<Record<string, string>> = {
  'public.assets': 'the library; a deleted asset keeps its row',
  'public.unfinished_assets': 'failed assets, until their owner deletes them',
  'public.encoder_jobs': 'assets of an external encoder, which learns of their deletion',
};

/** Rows of the work stay for some time in these. */
const USED = [
  'pgboss.job',
  'public.cdn_purges',
  'public.deferred_removals',
  'public.deliveries',
  'public.encode_estimates',
  'public.endpoint_deliveries',
  'public.events',
  'public.storage_checks',
];
const isPositive = (rows: number): boolean => rows > 0;

let place: WorkPlace;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  const peer = await startPeer();
  opened.defer(peer.stop);
  const database = leaseDatabaseHost();
  opened.defer(database.release);
  const data = await database.host.call('createDatabase', {
    name: `year_${randomUUID().replaceAll('-', '')}`,
  });
  const settings = { ...SETTINGS, ...data, CDN_PURGE_URL: `${peer.url}/purge` };
  const media: TestMediary = await startMediary({ settings });
  opened.defer(media.stop);
  const client = new pg.Client({ connectionString: data.DATABASE_URL });
  await client.connect();
  opened.defer(() => client.end());
  place = { media, client, peerUrl: peer.url };
});
afterAll(() => opened.disposeAsync());

/** Whole months are dropped: what stays depends on the day of the month. */
const MONTH_STEPS = 5;

/** Returns the largest sizes of the last month. */
async function liveFor(steps: number): Promise<TableSizes> {
  const measured: TableSizes[] = [];
  for (let step = 0; step < steps; step += 1) {
    await doWork(place, step);
    await place.media.clock.advance(`${STEP_DAYS}d`);
    if (step >= steps - MONTH_STEPS) measured.push(await measureTables(place.client));
  }
  return largestOf(measured);
}

const bounded = (sizes: TableSizes) => [...sizes].filter(([name]) => !(name in GROWING));
const bytesOf = (sizes: TableSizes) => bounded(sizes).reduce((sum, [, { bytes }]) => sum + bytes, 0);

test('no table grows from the sixth month to the twelfth, except those of the library', async () => {
  const half = await liveFor(STEPS / 2);
  const whole = await liveFor(STEPS / 2);
  const grown = bounded(whole).filter(([name, { rows }]) => {
    const before = half.get(name)?.rows ?? 0;
    return rows > before * 1.2 + 5;
  });
  for (const name of USED)
    expect([name, whole.get(name)?.rows]).toEqual([name, expect.toSatisfy(isPositive)]);
  if (process.env['PRINT_SIZES'] === '1')
    for (const [name, { rows, bytes }] of whole)
      process.stdout.write(`${name} ${half.get(name)?.rows} ${rows} ${half.get(name)?.bytes} ${bytes}\n`);
  expect(grown.map(([name, { rows }]) => `${name}: ${half.get(name)?.rows} to ${rows} rows`)).toEqual([]);
  expect(bytesOf(whole)).toBeLessThan(bytesOf(half) * 1.3);
});

test('every scheduled job has run, and months are created ahead and dropped', async () => {
  const scheduled = Object.entries(JOB_SETTINGS).flatMap(([name, { schedule }]) => (schedule ? [name] : []));
  const { rows } = await place.client.query<{ name: string }>(
    `select distinct name from pgboss.job_common where state = 'completed'`,
  );
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(scheduled));
  const now = place.media.clock.now();
  const month = (ahead: number) => {
    const date = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead));
    return date.toISOString().slice(0, 7).replace('-', '_');
  };
  const range = (first: number) => Array.from({ length: 4 - first }, (_, index) => month(first + index));
  expect(await listMonths(place.client, 'events')).toEqual(expect.arrayContaining(range(-1)));
  expect((await listMonths(place.client, 'events')).length).toBeLessThanOrEqual(range(-3).length);
  expect((await listMonths(place.client, 'deliveries')).length).toBeLessThanOrEqual(range(-2).length);
});
