// An external database dies and comes back: the process stays alive, responds 503 meanwhile, and runs jobs
// again.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { expectRefusal, expectSuccess } from '../support/http/envelope.ts';
import { halves } from '../support/store/partial-writes.ts';
import { complete, IMAGE, openUpload, putBytes, settled } from '../support/media.ts';
import { bombPng } from '../support/clips/pictures.ts';
import { urlOf } from '../support/postgres/postgres.ts';
import { asUser, call, eventually } from '../support/service.ts';
import { newDataDir, newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';

const KILLS = 3;
const headers = asUser('ann');

let databaseDir: string;
let dataDir: string;
let postgres: EmbeddedPostgres;
let databaseEnded: Promise<Error>;
let service: ServiceProcess;

beforeAll(async () => {
  [databaseDir, dataDir] = [await newDatabaseDir(), await newDataDir()];
  await startDatabase();
  service = await startProcess({ DATABASE_URL: urlOf(postgres), DATA_DIR: dataDir, LOG_LEVEL: 'error' });
});
afterAll(async () => {
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  await postgres?.stop();
  await Promise.all(
    [databaseDir, dataDir].map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })),
  );
});

async function startDatabase(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<Error>();
  databaseEnded = promise;
  postgres = await startEmbeddedPostgres(databaseDir, { onExit: resolve });
}

async function killDatabase(): Promise<void> {
  process.kill(
    Number.parseInt(await readFile(join(databaseDir, 'postgres', 'postmaster.pid'), 'utf8'), 10),
    'SIGKILL',
  );
  const answer = await eventually(
    () => call(service, 'GET /media', { headers }),
    ({ status }) => status !== 200,
  );
  expect(expectRefusal(answer, 503).error_code).toBe('UNAVAILABLE');
  expectSuccess(await call(service, `GET ${new URL(service.url).origin}/healthz`));
}

test('the same process writes and runs jobs again after each restart', async () => {
  await Promise.race([writeBetweenKills(), service.ended.then(failWithLog)]);
  expect(await halves(databaseDir)).toEqual([]);
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
}, 300_000);

function failWithLog(ending: object): never {
  throw new Error(`The service ended with ${JSON.stringify(ending)}: ${service.log().slice(-2000)}`);
}

async function writeBetweenKills(): Promise<void> {
  const begun: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const before = await openUpload(service, 'ann', IMAGE);
    expectSuccess(await putBytes(before, bombPng(16 + kill, 16)));
    expectSuccess(await complete(service, 'ann', before.asset_id));
    await killDatabase();
    await databaseEnded;
    await startDatabase();
    await eventually(
      () => call(service, `GET ${new URL(service.url).origin}/readyz`),
      ({ status }) => status === 200,
    );

    const after = await openUpload(service, 'ann', IMAGE);
    expectSuccess(await putBytes(after, bombPng(16, 17 + kill)));
    expectSuccess(await complete(service, 'ann', after.asset_id));
    expect(await settled(service, 'ann', after.asset_id)).toMatchObject({ stream_status: 'ready' });
    begun.push(before.asset_id);
  }
  for (const id of begun) expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready' });
}
