// Bytes of deleted assets and replaced files are kept for PURGE_GRACE_DAYS, unless an operator erases them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { expectFieldRefused, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes } from '../../support/media.ts';
import {
  asService,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { filesNaming, openJobs } from '../../support/service/traces.ts';
import { REMOVE_ORPHANS, runStorageCheck } from '../../support/service/storage-check.ts';

const BYTES = Buffer.from('bytes that a restored backup asks for');

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PURGE_GRACE_DAYS: '7' }, { isStoreDirect: false });
});
afterAll(() => service?.stop());

const stored = async (id: string) => (await filesNaming(service.dataDir, id)).length;

async function uploadAndDelete(): Promise<string> {
  const started = await openUpload(service, 'ann', IMAGE);
  expect((await putBytes(started, BYTES)).status).toBe(200);
  expectSuccess(await call(service, `DELETE /media/${started.asset_id}`, { headers: asUser('ann') }));
  await afterPurge();
  return started.asset_id;
}

/** The jobs that remove files have ended. */
const afterPurge = () =>
  eventually(
    () => openJobs(service.dataDir),
    (open) => !open.some((job) => job.includes('purge-asset')),
  );

async function removeDue(): Promise<void> {
  const { db, jobs } = service.adapters;
  await db.transaction((tx) => jobs.send(tx, 'remove-deferred', {}));
}

const erase = (id: string, query = '?erase=true', headers: Record<string, string> = asService) =>
  call(service, `DELETE /media/${id}${query}`, { headers, json: { owner_user_id: 'ann' } });

test('bytes of a deleted asset are kept; they are no orphans, and go when the days have passed', async () => {
  const id = await uploadAndDelete();
  expect(await stored(id)).toBe(1);
  expect((await runStorageCheck(service, REMOVE_ORPHANS)).findings).toEqual([]);
  const later = await uploadAndDelete();
  await service.adapters.db.all(sql('test: seven days later')`
    update deferred_removals set remove_after = now() where asset_id = ${id}`);
  await removeDue();
  await eventually(
    () => stored(id),
    (files) => files === 0,
  );
  expect(await stored(later)).toBe(1);
});

test('bytes that an asset refers to again stay, also when the days have passed', async () => {
  const { asset_id: id, ...started } = await openUpload(service, 'ann', IMAGE);
  expect((await putBytes({ asset_id: id, ...started }, BYTES)).status).toBe(200);
  const { db } = service.adapters;
  await db.all(sql('test: a reference that ended and came back')`
    insert into deferred_removals (asset_id, key, remove_after)
    select id, 'originals/' || id || '/' || original_upload, now() from assets where id = ${id}`);
  await removeDue();
  await eventually(
    () =>
      db.all(sql('test: removals', { key: 'text' })`
      select key from deferred_removals where asset_id = ${id}`),
    (waiting) => waiting.length === 0,
  );
  expect(await stored(id)).toBe(1);
});

test('the service key erases bytes at once, also of a deleted asset', async () => {
  const id = await uploadAndDelete();
  for (const _repeated of [1, 2]) expectSuccess(await erase(id));
  await eventually(
    () => stored(id),
    (files) => files === 0,
  );
});

test('others cannot erase, and an asset is not erased and moved to the trash', async () => {
  const { asset_id: id } = await openUpload(service, 'ann', IMAGE);
  expect((await erase(id, '?erase=true', asUser('ann'))).status).toBe(403);
  expectFieldRefused(await erase(id, '?erase=true&trash=true'), 'erase');
  expect((await call(service, `GET /media/${id}`, { headers: asUser('ann') })).status).toBe(200);
});
