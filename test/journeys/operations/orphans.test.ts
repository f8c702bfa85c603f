// Operators see objects in the store without an asset before they remove them.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { uuidV7 } from '../../../service/src/platform/values/uuid-v7.ts';
import { type ObjectKey, uploadKey } from '../../../service/src/storage/object-key.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes } from '../../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { isStoreRemote } from '../../support/store/test-store.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
}, 120_000);
afterAll(() => service?.stop());

const ask = (json?: object, headers: Record<string, string> = asOperator) =>
  call(service, 'POST /admin/orphans', { headers, ...(json && { json }) });

async function downloadOf(id: string): Promise<string> {
  const { body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, {
    headers: asUser('ann'),
  });
  return (await fetch(body.data.url)).text();
}

test('the default is a dry run; removal deletes only files that no asset references', async () => {
  const started = await openUpload(service, 'ann', IMAGE);
  await putBytes(started, Buffer.from('bytes of an asset'));
  const orphan = uploadKey(uuidV7(), randomUUID());
  await service.adapters.store.put(orphan, Readable.from([Buffer.from('bytes of nobody')]), 1000);
  const none = { multipart_count: 0, multiparts: [], asset_count: 0, assets: [] };
  const found = { ...none, object_count: 1, objects: [orphan] };
  for (const body of [undefined, {}, { dry_run: true }])
    expect(expectSuccess(await ask(body))).toEqual({ ...found, removed: false });
  expect(expectSuccess(await ask({ dry_run: false }))).toEqual({ ...found, removed: true });
  expect(expectSuccess(await ask())).toEqual({ ...found, object_count: 0, objects: [], removed: false });
  expect(await downloadOf(started.asset_id)).toBe('bytes of an asset');
});

test('an upload that its asset does not reference is an orphan, unless its writer is active', async () => {
  const { store, db } = service.adapters;
  const { asset_id: id } = await openUpload(service, 'ann', IMAGE);
  const writer = randomUUID();
  const key = uploadKey(id, writer);
  await store.put(key, Readable.from([Buffer.from('bytes of a slow writer')]), 1000);
  const lease = (until: string) =>
    db.one(sql('test: lease of an upload')`
      insert into uploads
        (id, asset_id, owner_user_id, attempt, protocol, lease_holder, lease_until, expires_at)
      values (${writer}, ${id}, 'ann', 1, 'put', ${writer}, now() + ${until}::interval,
        now() + interval '1 hour')
      on conflict (id) do update set lease_until = excluded.lease_until`);
  await lease('1 minute');
  expect(expectSuccess(await ask({ dry_run: false }))['objects']).toEqual([]);
  await lease('-1 second');
  expect(expectSuccess(await ask())['objects']).toEqual([key]);
  expect(expectSuccess(await ask({ dry_run: false }))['objects']).toEqual([key]);
  expect(await store.size(key)).toBeUndefined();
  const row = await db.one(sql('test: row of an upload', { id: 'uuid' })`
    select id from uploads where id = ${writer}`);
  expect(row, 'the slow writer cannot finish any more').toBeUndefined();
});

test('files of other programs are neither counted nor removed', async () => {
  const { store } = service.adapters;
  const foreign = ['originals/notes/readme', `renditions/${uuidV7()}/backup/notes.txt`] as ObjectKey[];
  // A folder that the console of an S3 store creates.
  if (isStoreRemote) foreign.push('originals/' as ObjectKey);
  else await writeFile(join(service.dataDir, 'objects/originals/00/.DS_Store'), 'a file of macOS');
  for (const key of foreign) await store.put(key, Readable.from([Buffer.from('foreign')]), 1000);
  for (const dry_run of [true, false])
    expect(expectSuccess(await ask({ dry_run }))).toMatchObject({ object_count: 0, objects: [] });
  for (const key of foreign) expect(await store.size(key), key).toBe(7);
});

test('only operators may call it, and the parameter must be a boolean', async () => {
  for (const headers of [{}, asUser('ann'), asService])
    expectRefusal(await ask({ dry_run: false }, headers), 401);
  for (const dry_run of ['true', 1, null]) expectFieldRefused(await ask({ dry_run }), 'dry_run');
});

test('an unknown member is refused by a message that names dry_run, and removes nothing', async () => {
  const { store } = service.adapters;
  const orphan = uploadKey(uuidV7(), randomUUID());
  await store.put(orphan, Readable.from([Buffer.from('bytes of nobody')]), 1000);
  for (const body of [{ remove: true }, { dry_run: false, remove: true }]) {
    const { message, details } = expectRefusal(await ask(body), 400);
    expect(message).toContain('"remove". Allowed: dry_run.');
    expect(details).toMatchObject({ field: 'remove', reason: 'unknown_member', allowed: ['dry_run'] });
  }
  expect(await store.size(orphan)).toBe(15);
  await store.remove(orphan);
});
