// Operators see every process of the installation, with what it runs, and drain a worker (contract B9).
import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import { complete, openUpload, putBytes, readAsset } from '../../support/media.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { newDatabaseDir } from '../../support/service/data-folders.ts';
import { rows } from '../../support/service/traces.ts';

type Worker = Record<string, unknown> & { id: string; state: string; roles: string[]; host: string };
type Page = { items: Worker[]; next_cursor: string | null };

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const ask = (query = '') => call<Page>(service, `GET /admin/workers${query}`, { headers: asOperator });
const listed = async () => (await ask()).body.data.items;
const drain = (id: string) => call(service, `POST /admin/workers/${id}/drain`, { headers: asOperator });

test('a process is listed with its machine, and stays a day after it is lost', async () => {
  const [self] = await listed();
  expect(self).toMatchObject({
    host: expect.stringMatching(new RegExp(`.+:${process.pid}$`)),
    roles: ['api', 'worker'],
    state: 'live',
    stopped_at: null,
    running_jobs: [],
    video_encoder: 'x264',
    scratch_free_bytes: expect.any(Number),
    clock_skew_ms: expect.any(Number),
    sandbox: expect.objectContaining({ no_network: expect.any(Boolean) }),
  });
  await rows(
    service.dataDir,
    `insert into workers (id, host, roles, version, providers, started_at, seen_at, stopped_at)
     select gen_random_uuid(), host, '{worker}', '1', '{}', now() - seen - interval '1 hour', now() - seen,
            case when host = 'stopped' then now() - seen end
       from (values ('lost', interval '40 s'), ('stopped', interval '2 s'), ('old', interval '25 hours'))
            as ended (host, seen)`,
  );
  const states = async () => (await listed()).map(({ host, state }) => [host, state]);
  await eventually(states, (found) => found.every(([host]) => host !== 'old'));
  expect(await states()).toEqual([
    [self?.host, 'live'],
    ['stopped', 'stopped'],
    ['lost', 'lost'],
  ]);
  const first = (await ask('?limit=2')).body.data;
  const second = (await ask(`?limit=2&cursor=${first.next_cursor}`)).body.data;
  expect([...first.items, ...second.items].map(({ host }) => host)).toEqual([self?.host, 'stopped', 'lost']);
  expect(second.next_cursor).toBeNull();
  const ready = await call(service, `GET ${service.address}/readyz`);
  expect(ready.body.data['worker_count']).toBe(1);
});

test('an API process is listed too, and one that stopped by itself as stopped', async () => {
  const dataDir = await newDatabaseDir();
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const restart = () => startTestService({ DATA_DIR: dataDir, MEDIARY_ROLE: 'api' });
  await (await restart()).stop();
  const api = await restart();
  onTestFinished(api.stop);
  const { body } = await call<Page>(api, 'GET /admin/workers', { headers: asOperator });
  expect(body.data.items).toMatchObject([
    { roles: ['api'], state: 'live', stopped_at: null },
    { roles: ['api'], state: 'stopped', stopped_at: expect.any(String) },
  ]);
  expect((await call(api, `GET ${api.address}/readyz`)).body.data['worker_count']).toBe(0);
});

test('a drained worker takes no further job, which waits for another process', async () => {
  const self = (await listed()).find(({ state }) => state === 'live');
  expect((await drain(self?.id ?? '')).body.data).toEqual({ id: self?.id, draining: true });
  expect((await drain(self?.id ?? '')).status).toBe(200);
  await eventually(
    async () => service.adapters.jobs.control.isDraining(),
    (isDraining) => isDraining,
  );
  const film = await readFile(await makeClip({ seconds: 1 }));
  const started = await openUpload(service, 'ann');
  await putBytes(started, film);
  await complete(service, 'ann', started.asset_id);
  const jobs = await call<{ items: { state: string }[] }>(
    service,
    `GET /admin/jobs?asset_id=${started.asset_id}`,
    { headers: asOperator },
  );
  expect(jobs.body.data.items.map(({ state }) => state)).toEqual(['waiting']);
  expect((await listed())[0]).toMatchObject({ id: self?.id, state: 'draining' });
  // It still serves requests.
  expect(await readAsset(service, 'ann', started.asset_id)).toMatchObject({ stream_status: 'processing' });
  await call(service, `DELETE /media/${started.asset_id}`, { headers: asUser('ann') });
});

test('a process that has ended, or runs no jobs, cannot be drained', async () => {
  for (const { id, host } of await listed())
    if (host === 'lost' || host === 'stopped') expectRefusal(await drain(id), 404);
  expectRefusal(await drain('x'), 404);
  expectRefusal(await call(service, 'GET /admin/workers', { headers: asUser('ann') }), 401);
});
