// Storage checks as an operator controls them: who may start one, their pages of findings, and their end.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { StorageCheck } from '@mediary/contract/schemas/admin/storage-checks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { uuidV7 } from '../../../service/src/platform/values/uuid-v7.ts';
import { type ObjectKey, uploadKey } from '../../../service/src/storage/object-key.ts';
import { IMAGE, openUpload } from '../../support/media.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { REMOVE_ORPHANS, runStorageCheck } from '../../support/service/storage-check.ts';

let service: TestService;
let failures = 0;
const failOnce = () => (failures-- > 0 ? Promise.reject(new Error('the store is gone')) : undefined);
beforeAll(async () => {
  service = await startTestService(
    { LOG_LEVEL: 'silent' },
    {
      wrapAdapters: (adapters) => ({
        ...adapters,
        store: { ...adapters.store, size: (key) => failOnce() ?? adapters.store.size(key) },
      }),
    },
  );
});
afterAll(() => service?.stop());

const start = (json?: object, headers: Record<string, string> = asOperator) =>
  call<StorageCheck>(service, 'POST /admin/checks', { headers, ...(json && { json }) });
const put = (key: ObjectKey, text: string) =>
  service.adapters.store.put(key, Readable.from([Buffer.from(text)]), 1000);

test('a check of many objects pages its findings in order', async () => {
  const keys = Array.from({ length: 12 }, () => uploadKey(uuidV7(), randomUUID()));
  for (const key of keys) await put(key, 'x');
  const { check } = await runStorageCheck(service);
  const pages: unknown[][] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const after: string = cursor && `&cursor=${cursor}`;
    const path = `GET /admin/checks/${check.id}/findings?limit=5&kind=unknown_object${after}`;
    const { body } = await call<{ items: { key: string }[]; next_cursor: string | null }>(service, path, {
      headers: asOperator,
    });
    pages.push(body.data.items.map(({ key }) => key));
    cursor = body.data.next_cursor;
  }
  expect(pages.map(({ length }) => length)).toEqual([5, 5, 2]);
  expect(pages.flat().toSorted()).toEqual(keys.toSorted());
  expect((await runStorageCheck(service, REMOVE_ORPHANS)).check.repaired_count).toBe(12);
  for (const key of keys) expect(await service.adapters.store.size(key)).toBeUndefined();
});

test('a check whose run fails is continued by the next one, and finds everything once', async () => {
  const keys = Array.from({ length: 3 }, () => uploadKey(uuidV7(), randomUUID()));
  for (const key of keys) await put(key, 'x');
  const { asset_id: id } = await openUpload(service, 'ann', IMAGE);
  const original = uploadKey(id, randomUUID());
  await service.adapters.db.one(sql('test: an original that is not stored')`
    update assets set uploaded_at = now(), original_upload = ${original.slice(-36)} where id = ${id}`);
  failures = 2;
  const { check, findings } = await runStorageCheck(service, { orphan_age_s: 3600 });
  expect(failures).toBeLessThanOrEqual(0);
  expect(check).toMatchObject({ status: 'done', finding_count: 4, object_count: 3, error: null });
  expect(findings.map(({ key }) => key).toSorted()).toEqual([...keys, original].toSorted());
  expect((await runStorageCheck(service, REMOVE_ORPHANS)).check.repaired_count).toBe(4);
  expect((await runStorageCheck(service)).findings).toEqual([]);
});

test('only operators may start checks, one at a time, and a misspelt member starts none', async () => {
  for (const headers of [{}, asUser('ann'), asService]) expectRefusal(await start({}, headers), 401);
  for (const repair of ['true', 1, null]) expectFieldRefused(await start({ repair }), 'repair');
  expectFieldRefused(await start({ orphan_age_s: -1 }), 'orphan_age_s');
  const { message } = expectRefusal(await start({ fix: true }), 400);
  expect(message).toContain('"fix"');
  expectRefusal(await call(service, `GET /admin/checks/${uuidV7()}`, { headers: asOperator }), 404);
  expectRefusal(await call(service, 'GET /admin/checks/other/findings', { headers: asOperator }), 404);

  // As if a command on another machine ran it.
  await service.adapters.db.one(sql('test: a check of a command')`
    insert into storage_checks (id, options, status, stage, counts)
    select ${uuidV7()}, options, 'running', 'objects', counts from storage_checks limit 1`);
  const { details } = expectRefusal(await start(), 409);
  expect(details).toMatchObject({ reason: 'check_running' });
  const { body } = await call<{ items: StorageCheck[] }>(service, 'GET /admin/checks', {
    headers: asOperator,
  });
  const [open] = body.data.items;
  const cancelled = await call(service, `POST /admin/checks/${open?.id}/cancel`, { headers: asOperator });
  expect(expectSuccess(cancelled)).toMatchObject({ id: open?.id, status: 'cancelled' });
  expect((await runStorageCheck(service)).check.status).toBe('done');
});

test('a check whose process was killed ends after two minutes, so that another can start', async () => {
  const id = uuidV7();
  await service.adapters.db.one(sql('test: an abandoned check')`
    insert into storage_checks (id, options, status, stage, counts, updated_at)
    select ${id}, options, 'running', 'objects', counts, now() - interval '3 minutes'
      from storage_checks limit 1`);
  expect((await runStorageCheck(service)).check.status).toBe('done');
  const { body } = await call<StorageCheck>(service, `GET /admin/checks/${id}`, { headers: asOperator });
  expect(body.data).toMatchObject({ status: 'failed', error: expect.stringContaining('ended') });
});
