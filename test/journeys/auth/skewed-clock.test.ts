// A worker whose clock is wrong removes nothing, and says so; others remove by the database's clock.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JobPayloads } from '../../../service/src/jobs.ts';
import { createLogger } from '../../../service/src/platform/observability/logger.ts';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, type Started } from '../../support/media.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';
import { BYTES, create, patch } from '../../support/uploads/tus.ts';

const DAY_MS = 86_400_000;
const SKEW_MS = 31 * DAY_MS;

let service: TestService;
let skewMs = SKEW_MS;
const lines: string[] = [];
beforeAll(async () => {
  const log = createLogger('info', { write: (line) => void lines.push(line) });
  service = await startTestService({}, { processNow: () => new Date(Date.now() + skewMs), log });
});
afterAll(() => service?.stop());

type Job = keyof JobPayloads & ('expire-uploads' | 'empty-trash' | 'reconcile' | 'maintain-partitions');
const send = async (name: Job) => {
  const { jobs, db } = service.adapters;
  await db.transaction((tx) => jobs.send(tx, name, {}));
};

type AssetRow = { readonly stream_status: string; readonly is_purged: boolean };
const rowOf = async ({ asset_id: id }: Started): Promise<AssetRow | undefined> =>
  service.adapters.db.one(sql('test: asset', { stream_status: 'text', is_purged: 'bool' })`
    select stream_status, deleted_at is not null and purge_at is null as is_purged
      from assets where id = ${id}`);

test('the health check names a worker whose clock is 31 days ahead', async () => {
  const ask = () => call(service, `GET ${service.address}/readyz`, { headers: asOperator });
  const ready = await eventually(ask, ({ body }) => JSON.stringify(body).includes('worker_clock_skew'));
  expect(expectSuccess(ready)).toMatchObject({
    warnings: ['worker_clock_skew'],
    workers: [{ clock_skew_ms: expect.closeTo(SKEW_MS, -5) }],
  });
});

let pending: Started;
let trashed: Started;

test('it expires no upload and empties no trash', async () => {
  skewMs = 0;
  pending = await openUpload(service, 'ann', IMAGE);
  expect(await patch(await create(pending, 'later'), 0, BYTES.subarray(0, 1000))).toMatchObject({
    status: 204,
  });
  trashed = await openUpload(service, 'ann', IMAGE);
  expectSuccess(
    await call(service, `DELETE /media/${trashed.asset_id}?purge=false`, { headers: asUser('ann') }),
  );
  skewMs = SKEW_MS;
  for (const name of ['expire-uploads', 'empty-trash', 'reconcile', 'maintain-partitions'] as const) {
    await send(name);
    await eventually(
      async () => lines.filter((line) => line.includes(`"${name}"`)),
      (found) => found.some((line) => line.includes('it removes nothing')),
    );
  }
  expect(await rowOf(pending)).toEqual({ stream_status: 'pending_upload', is_purged: false });
  expect(await rowOf(trashed)).toEqual({ stream_status: 'pending_upload', is_purged: false });
  expect(await filesNaming(join(service.dataDir, 'objects'), pending.asset_id)).toHaveLength(1);
});

test('a clock that is right again removes what the database finds due', async () => {
  skewMs = 0;
  await service.adapters.db.all(sql('test: due rows')`
    with asset as (
      update assets set purge_at = case when purge_at is not null then now() - interval '1 s' end,
                        upload_expires_at = now() - interval '1 s')
    update uploads set expires_at = now() - interval '1 s'`);
  for (const name of ['expire-uploads', 'empty-trash'] as const) await send(name);
  await eventually(
    () => rowOf(pending),
    (row) => row?.stream_status === 'failed',
  );
  await eventually(
    () => rowOf(trashed),
    (row) => row?.is_purged === true,
  );
});
