// Operators page through waiting jobs and cancel them before they start; others see no job (contract B9).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal } from '../../support/http/envelope.ts';
import { type AssetJson, complete, IMAGE, openUpload, putBytes, readAsset } from '../../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import {
  askJobs,
  changeJob,
  getJob,
  jobOf,
  type JobJson,
  lastSentence,
  listJobs,
} from '../../support/service/jobs.ts';
import { NAMED, requestImport } from '../../support/uploads/imports.ts';

type Queue = Record<string, unknown> & { queue: string; waiting: number };

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', OUTBOUND_ALLOW_PRIVATE: 'import' });
});
afterAll(() => service?.stop());

const image = async (): Promise<AssetJson> => {
  const started = await openUpload(service, 'ann', IMAGE);
  await putBytes(started, Buffer.from(ONE_PIXEL, 'base64'));
  await complete(service, 'ann', started.asset_id);
  return readAsset(service, 'ann', started.asset_id);
};

test('pages show every job once, in the order of execution, and only those of the filter', async () => {
  for (let made = 0; made < 7; made += 1) await image();
  await openUpload(service, 'ann').then(({ asset_id }) =>
    call(service, `DELETE /media/${asset_id}`, { headers: asUser('ann') }),
  );
  const all = await listJobs(service);
  expect(all.filter(({ queue }) => queue === 'process-image')).toHaveLength(7);
  const paged: JobJson[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await askJobs(service, `?limit=3${cursor && `&cursor=${cursor}`}`);
    expect(body.data.items.length).toBeLessThanOrEqual(3);
    paged.push(...body.data.items);
    cursor = body.data.next_cursor;
  }
  expect(paged).toEqual(all);
  const images = await askJobs(service, '?limit=3&queue=process-image&state=waiting');
  expect(images.body.data.items.every(({ queue }) => queue === 'process-image')).toBe(true);
  expectFieldRefused(
    await askJobs(service, `?queue=purge-asset&cursor=${images.body.data.next_cursor}`),
    'cursor',
  );
});

test('each queue is counted, with the age of its oldest job', async () => {
  await image();
  const queueOf = async () =>
    (
      await call<{ items: Queue[] }>(service, 'GET /admin/queues', { headers: asOperator })
    ).body.data.items.find(({ queue }) => queue === 'process-image');
  const found = await eventually(queueOf, (queue) => Number(queue?.waiting) > 0, { withinMs: 100_000 });
  expect(found).toMatchObject({
    name: 'process-image',
    provider: null,
    delayed: 0,
    active: 0,
    failed: 0,
    oldest_waiting_s: expect.any(Number),
    counted_at: expect.any(String),
  });
});

test('a cancelled image fails, and can be retried', async () => {
  const { id } = await image();
  const job = await jobOf(service, id, 'waiting');
  expect((await changeJob(service, job.id, 'cancel')).body.data.state).toBe('cancelled');
  expect(await readAsset(service, 'ann', id)).toMatchObject({
    stream_status: 'failed',
    failure: { code: 'cancelled', retryable: true },
  });
  expect(await lastSentence(service, id)).toBe('An operator cancelled the processing.');
  expect((await call(service, `POST /media/${id}/retry`, { headers: asUser('ann') })).status).toBe(200);
  expect(await readAsset(service, 'ann', id)).toMatchObject({ stream_status: 'processing', failure: null });
  await jobOf(service, id, 'waiting');
});

test('a cancelled import that waits is never started', async () => {
  const { body } = await requestImport(service, { url: 'http://127.0.0.1:8080/a.png', ...NAMED });
  const { id } = body.data;
  const job = await jobOf(service, id, 'waiting');
  expect((await changeJob(service, job.id, 'cancel')).status).toBe(200);
  expect(await readAsset(service, 'ann', id)).toMatchObject({ failure: { code: 'cancelled' } });
});

test('a job that removes something cannot be cancelled', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
  const job = await jobOf(service, id, 'waiting');
  const refused = await changeJob(service, job.id, 'cancel');
  expect(expectRefusal(refused, 409).details).toMatchObject({ reason: 'job_required' });
  expect(refused.body.message).toBe(
    'The job "purge-asset" cannot be cancelled: the bytes of a deleted asset would stay in the store.',
  );
  expect((await getJob(service, job.id)).state).toBe('waiting');
  // It waits already.
  expect((await changeJob(service, job.id, 'run-again')).body.data).toMatchObject({ state: 'waiting' });
});

test.each(['queue=nothing', 'state=completed', 'limit=0', 'limit=201', 'cursor=x'])(
  '%s is rejected',
  async (query) => {
    expectFieldRefused(await askJobs(service, `?${query}`), query.slice(0, query.indexOf('=')));
  },
);

test('nobody but an operator sees or changes jobs', async () => {
  const missing = '00000000-0000-4000-8000-000000000000';
  for (const headers of [{}, asUser('ann'), asService])
    for (const path of ['GET /admin/jobs', 'GET /admin/queues', `GET /admin/jobs/${missing}`])
      expectRefusal(await call(service, path, { headers }), 401);
  for (const id of [missing, 'x'])
    for (const path of [
      `GET /admin/jobs/${id}`,
      `POST /admin/jobs/${id}/cancel`,
      `POST /admin/jobs/${id}/run-again`,
    ])
      expectRefusal(await call(service, path, { headers: asOperator }), 404);
});

const ONE_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
