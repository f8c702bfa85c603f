// Tests the heartbeat of worker processes against a real database.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../test/support/postgres/postgres.ts';
import { createLogger } from '../platform/observability/logger.ts';
import type { Connection } from '../platform/postgres/connection.ts';
import { type Database, openDatabase } from '../platform/postgres/database.ts';
import { openClocks } from '../platform/postgres/database-clock.ts';
import { createSettings } from '../platform/settings/read-settings.ts';
import { createProvidersContext } from './context.fixture.ts';
import { configureProviders, openProviders } from './registry.ts';
import {
  deleteStaleWorkers,
  hasWorkerFor,
  listWorkers,
  startHeartbeat,
  type WorkerProcess,
} from './workers.ts';

let server: TestPostgres;
let connection: Connection;
let db: Database;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.migrated();
  db = openDatabase({ connection, onIdleError: () => undefined });
});
afterAll(async () => {
  await db.close();
  await server.stop();
});
beforeEach(() => rowsOf(connection, 'delete from workers'));

const CDNHOST = { CDNHOST_STREAM_LIBRARY_ID: '4242', CDNHOST_STREAM_API_KEY: 'library-key' };

/** Lines of the log: the level and the message. */
let logged: [level: string, message: string][] = [];
const log = createLogger('info', {
  write(line) {
    const { level, msg } = JSON.parse(line);
    logged.push([level, msg]);
  },
});

let skewMs = 0;
const clocks = {
  now: () => new Date(Date.now() + skewMs),
  databaseNow: () => openClocks(db, {}).databaseNow(),
};

async function start(environment = {}, more: Partial<WorkerProcess> = {}, database: Database = db) {
  logged = [];
  const registry = openProviders(configureProviders(createSettings(environment)), {
    encoderSecrets: [],
    allowUnsigned: [],
  });
  const heartbeat = await startHeartbeat(createProvidersContext({ db: database, log, registry, clocks }), {
    id: randomUUID(),
    roles: ['worker'],
    version: '1.2.3',
    host: 'host-1:4711',
    videoEncoder: 'x264',
    encodeSlots: 2,
    protections: { no_network: true },
    freeScratchBytes: async () => 4096,
    jobs: { listRunning: () => [], watchLongRuns: () => {}, isDraining: () => false, drain: async () => {} },
    ...more,
  });
  onTestFinished(heartbeat.stop);
  return heartbeat;
}

const listed = async () =>
  (await listWorkers(createProvidersContext({ db }))).map(({ id: _, ...worker }) => worker);

test('a worker is listed with the providers that it has settings for, until it stops', async () => {
  const heartbeat = await start(CDNHOST, { roles: ['api', 'worker'] });
  expect(await listed()).toEqual([
    {
      roles: ['api', 'worker'],
      version: '1.2.3',
      providers: ['cdnhost', 'onprem'],
      started_at: expect.any(Date),
      seen_at: expect.any(Date),
      video_encoder: 'x264',
      clock_skew_ms: expect.closeTo(0, -4),
    },
  ]);
  const ctx = createProvidersContext({ db });
  expect([await hasWorkerFor(ctx, 'cdnhost'), await hasWorkerFor(ctx, 'edgehost')]).toEqual([true, false]);
  await heartbeat.stop();
  expect(await listed()).toEqual([]);
});

test('a heartbeat renews its row and creates it again; rows of ended processes are deleted', async () => {
  await start({}, { beatEveryMs: 20 });
  const [first] = await listed();
  await rowsOf(
    connection,
    `insert into workers (id, roles, version, providers, seen_at)
     values (gen_random_uuid(), '{}', '', '{}', $1)`,
    [new Date(Date.now() - 86_460_000)],
  );
  await deleteStaleWorkers(createProvidersContext({ db }));
  expect(await rowsOf(connection, 'select id from workers')).toHaveLength(1);
  await expect
    .poll(async () => (await listed())[0]?.seen_at.getTime())
    .toBeGreaterThan(Number(first?.seen_at));
  await rowsOf(connection, 'delete from workers');
  await expect.poll(listed).toHaveLength(1);
});

test('a process that was not seen for 35 seconds is not listed', async () => {
  await start();
  await rowsOf(connection, "update workers set seen_at = now() - interval '36 seconds'");
  expect(await listed()).toEqual([]);
});

test('a failing heartbeat is logged, and neither throws nor ends', async () => {
  let attempts = 0;
  const one = () => Promise.reject(new Error(`the database is away ${++attempts}`));
  const heartbeat = await start({}, { beatEveryMs: 20 }, { ...db, one });
  await expect.poll(() => logged.length).toBeGreaterThan(3);
  await heartbeat.stop();
  expect(new Set(logged.filter(([level]) => level === 'warn').map(([, message]) => message))).toEqual(
    new Set(['cannot record the heartbeat of this worker']),
  );
});

test('a worker warns at its start about a provider that has videos but no settings', async () => {
  await start();
  expect(logged).toEqual([['info', 'worker started']]);
  await rowsOf(
    connection,
    `insert into assets (id, owner_user_id, kind, filename, content_type, mime_type, visibility, provider,
                         provider_video_id, created_at, updated_at)
     values (gen_random_uuid(), 'ann', 'video', 'a.mp4', 'video', 'video/mp4', 'public', 'edgehost',
             'video-1', now(), now())`,
  );
  await start();
  expect(logged).toEqual([
    ['info', 'worker started'],
    ['warn', expect.stringContaining('no settings for a provider that has videos')],
  ]);
});

test('a worker tells how far its clock is away, and logs once that it removes nothing', async () => {
  skewMs = -120_000;
  onTestFinished(() => {
    skewMs = 0;
  });
  await start({}, { beatEveryMs: 20 });
  const [worker] = await listed();
  expect(worker?.clock_skew_ms).toBeLessThan(-110_000);
  expect(worker?.clock_skew_ms).toBeGreaterThan(-130_000);
  skewMs = 0;
  await expect
    .poll(() => logged.filter(([, message]) => message.includes('clock')))
    .toEqual([
      ['error', expect.stringContaining("120 s behind the database's: it takes no job that removes data")],
      ['info', expect.stringContaining('agrees')],
    ]);
  await expect.poll(async () => Math.abs((await listed())[0]?.clock_skew_ms ?? 0)).toBeLessThan(5000);
});
