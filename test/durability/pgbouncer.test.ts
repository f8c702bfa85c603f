// Behind PgBouncer in transaction mode the service uploads, encodes, delivers events live, and restarts.
import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { ffmpegPath, makeClip } from '../support/clips/clips.ts';
import { bombPng } from '../support/clips/pictures.ts';
import { expectSuccess } from '../support/http/envelope.ts';
import { freePort } from '../support/http/free-port.ts';
import { complete, IMAGE, openUpload, putBytes, settled } from '../support/media.ts';
import { missingPgBouncer, startPgBouncer } from '../support/postgres/pgbouncer.ts';
import { rowsOf } from '../support/postgres/postgres.ts';
import { asUser } from '../support/service.ts';
import { newDataDir, newDatabaseDir } from '../support/service/data-folders.ts';
import { readEvents } from '../support/service/event-streams.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../support/service/service-process.ts';

const missing = missingPgBouncer();

let folders: [database: string, data: string];
let postgres: EmbeddedPostgres;
let pooler: Awaited<ReturnType<typeof startPgBouncer>>;
let shared: ReturnType<typeof sharedBy> & { readonly DATABASE_LISTEN_URL: string };
/** The worker reports to this port also after a restart. */
let apiPort: string;
let api: ServiceProcess;
let worker: ServiceProcess;
beforeAll(async () => {
  if (missing) return;
  folders = [await newDatabaseDir(), await newDataDir()];
  postgres = await startEmbeddedPostgres(folders[0]);
  pooler = await startPgBouncer(postgres);
  const direct = sharedBy({ postgres, dataDir: folders[1], ffmpegPath: ffmpegPath() });
  shared = { ...direct, DATABASE_URL: pooler.url, DATABASE_LISTEN_URL: direct.DATABASE_URL };
  apiPort = String(await freePort());
  api = await startApi();
  worker = await startProcess(workerOf(shared, api));
});
afterAll(async () => {
  if (missing) return;
  await Promise.all([api, worker].map((process) => process?.end('SIGKILL')));
  await endAllIn(folders[1]);
  await pooler?.stop();
  await postgres?.stop();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
});

const startApi = (): Promise<ServiceProcess> =>
  startProcess({ ...shared, MEDIARY_ROLE: 'api', PORT: apiPort });

const END_OTHERS = `
  select pg_terminate_backend(pid) from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid()`;

async function upload(fields: object, bytes: Uint8Array): Promise<string> {
  const started = await openUpload(api, 'ann', fields);
  expectSuccess(await putBytes(started, bytes));
  expectSuccess(await complete(api, 'ann', started.asset_id));
  return started.asset_id;
}

test.skipIf(missing)('the log asks for what the role lacks, until the role has it', async () => {
  const asked = /behind a pooler the database role needs/;
  expect(api.log()).toMatch(asked);
  const line =
    api
      .log()
      .split('\n')
      .find((each) => asked.test(each)) ?? '';
  const { statements } = JSON.parse(line) as { statements: string[] };
  expect(statements.length).toBe(3);
  for (const statement of statements) await rowsOf(postgres.connection, statement);
  await api.end('SIGTERM');
  // New sessions have it.
  await rowsOf(postgres.connection, END_OTHERS);
  api = await startApi();
  expect(api.log()).not.toMatch(asked);
});

test.skipIf(missing)('images and videos become ready, and their events arrive live', async () => {
  const stream = await readEvents(`${api.url}/events`, asUser('ann'));
  const [image, video] = await Promise.all([
    upload(IMAGE, bombPng(16, 16)),
    upload({}, await readFile(await makeClip({ seconds: 2 }))),
  ]);
  for (const id of [image, video])
    expect(await settled(api, 'ann', id)).toMatchObject({ stream_status: 'ready' });
  await stream.until((events) => events.filter(({ event }) => event === 'asset.ready').length === 2);
  stream.close();
});

test.skipIf(missing)('both processes restart, continue, and share the few sessions of the pool', async () => {
  await Promise.all([api, worker].map((process) => process.end('SIGTERM')));
  api = await startApi();
  worker = await startProcess(workerOf(shared, api));
  const ids = await Promise.all(
    Array.from({ length: 20 }, (_, index) => upload(IMAGE, bombPng(16, 17 + index))),
  );
  for (const id of ids) expect(await settled(api, 'ann', id)).toMatchObject({ stream_status: 'ready' });
  const [count] = await rowsOf(
    postgres.connection,
    `select count(*)::int as sessions from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );
  // One more of each process listens.
  expect(count?.['sessions']).toBeLessThanOrEqual(pooler.sessions + 2);
});
