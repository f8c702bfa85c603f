// The primary dies and its synchronous standby is promoted: the service goes on there by itself, with every
// acknowledged write.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bombPng } from '../support/clips/pictures.ts';
import { expectRefusal, expectSuccess } from '../support/http/envelope.ts';
import { complete, IMAGE, openUpload, putBytes, readAsset, settled } from '../support/media.ts';
import { startReplicatedPostgres } from '../support/postgres/standby.ts';
import { asUser, call, eventually } from '../support/service.ts';
import { newDataDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';

const WRITERS = 4;
const MAX_RECOVERY_MS = 15_000;

let database: Awaited<ReturnType<typeof startReplicatedPostgres>>;
let dataDir: string;
let service: ServiceProcess;
beforeAll(async () => {
  [database, dataDir] = [await startReplicatedPostgres(), await newDataDir()];
  service = await startProcess({ DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'error' });
});
afterAll(async () => {
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  await database?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** Creates assets without a pause, and notes each that was acknowledged. */
function keepCreating() {
  const acknowledged: string[] = [];
  let isStopped = false;
  const create = async (): Promise<void> => {
    while (!isStopped) {
      const { asset_id } = await openUpload(service, 'ann', IMAGE).catch(() => ({ asset_id: undefined }));
      if (asset_id) acknowledged.push(asset_id);
    }
  };
  const writing = Array.from({ length: WRITERS }, create);
  return {
    acknowledged,
    stop: async () => {
      isStopped = true;
      await Promise.all(writing);
    },
  };
}

test('it writes to the promoted standby soon, has all acknowledged writes, and runs jobs', async () => {
  const before = await openUpload(service, 'ann', IMAGE);
  expectSuccess(await putBytes(before, bombPng(16, 16)));
  expectSuccess(await complete(service, 'ann', before.asset_id));
  expect(await settled(service, 'ann', before.asset_id)).toMatchObject({ stream_status: 'ready' });

  const writer = keepCreating();
  await eventually(
    () => Promise.resolve(writer.acknowledged.length),
    (count) => count > 20,
  );
  await database.killPrimary();
  const refused = await eventually(
    () => call(service, 'GET /media', { headers: asUser('ann') }),
    ({ status }) => status !== 200,
  );
  expectRefusal(refused, 503);
  const known = writer.acknowledged.length;
  await database.promote();
  const promoted = Date.now();
  await eventually(
    () => Promise.resolve(writer.acknowledged.length),
    (count) => count > known + 20,
  );
  expect(Date.now() - promoted).toBeLessThan(MAX_RECOVERY_MS);
  console.info(`back ${Date.now() - promoted} ms after the promotion`);
  await writer.stop();

  for (const id of writer.acknowledged)
    expect(await readAsset(service, 'ann', id)).toMatchObject({ stream_status: 'pending_upload' });
  const after = await openUpload(service, 'ann', IMAGE);
  expectSuccess(await putBytes(after, bombPng(16, 17)));
  expectSuccess(await complete(service, 'ann', after.asset_id));
  expect(await settled(service, 'ann', after.asset_id)).toMatchObject({ stream_status: 'ready' });
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
});
