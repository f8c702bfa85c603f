// Operators read what the installation did in the last hours: a time series in the database (contract B9).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal } from '../../support/http/envelope.ts';
import { openUpload } from '../../support/media.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { rows } from '../../support/service/traces.ts';

type Item = { at: string; values: Record<string, number | null> };
type List = { step_s: number; items: Item[] };

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await insertSamples(5, 60);
  await insertSamples(4, 120);
  await insertSamples(25 * 60, 60);
});
afterAll(() => service?.stop());

const ask = (query = '') => call<List>(service, `GET /admin/samples${query}`, { headers: asOperator });
const items = async (query?: string) => (await ask(query)).body.data.items;

/** A sample of each of two processes, `minutes` ago, and one of the database. */
const insertSamples = (minutes: number, requests: number) =>
  rows(
    service.dataDir,
    `insert into samples (host, at, values)
     select host, date_trunc('minute', now()) - $1 * interval '1 minute',
            case host when '' then '{"queue_waiting": 4}'::jsonb
            else jsonb_build_object('processes', 1, 'requests', $2::int, 'errors_4xx', 0, 'errors_5xx', 0,
              'jobs', 0, 'job_failures', 0, 'encodes_running', 1, 'event_loop_delay_s', 0.01,
              'scratch_free_bytes', 5, 'store_free_bytes', null, 'latency', '{"0.1": 3}'::jsonb,
              'speed', '{}'::jsonb, 'playable', '{}'::jsonb) end
       from unnest(array['one:1', 'two:2', '']) as host`,
    [minutes, requests],
  );

test('each process samples every minute, and one of them the queues', async () => {
  for (let made = 0; made < 12; made += 1) await openUpload(service, 'ann');
  // Waiting by requests would be sampled too.
  const isOwn = "host not in ('one:1', 'two:2', '*', '')";
  const [written] = await eventually(
    () => rows(service.dataDir, `select host from samples where ${isOwn}`),
    ({ length }) => length > 0,
    { withinMs: 80_000 },
  );
  const { host } = written as { host: string };
  const [sample] = await items(`?host=${encodeURIComponent(host)}`);
  expect(sample?.values).toMatchObject({
    processes: 1,
    requests_per_s: expect.closeTo(0.2, 1),
    errors_5xx_per_s: 0,
    request_p95_s: expect.any(Number),
    encodes_running: 0,
    encode_speed_p50: null,
    event_loop_delay_s: expect.any(Number),
    scratch_free_bytes: expect.any(Number),
  });
  const latest = await eventually(items, (found) => found.at(-1)?.values['queue_failed'] === 0);
  expect(latest.at(-1)?.values).toMatchObject({
    processes: 1,
    requests_per_s: expect.closeTo(0.2, 1),
    queue_oldest_s: 0,
  });
});

test('a process joins the samples of ended minutes, and a job deletes old ones', async () => {
  const joined = await eventually(
    () => rows(service.dataDir, "select values from samples where host = '*' order by at"),
    ({ length }) => length === 2,
  );
  expect(joined).toMatchObject([
    { values: { processes: 2, requests: 120 } },
    { values: { processes: 2, requests: 240 } },
  ]);
  const { db, jobs } = service.adapters;
  await db.transaction((tx) => jobs.send(tx, 'delete-old-samples', {}));
  await eventually(
    () => rows(service.dataDir, "select at from samples where at < now() - interval '24 hours'"),
    ({ length }) => length === 0,
  );
  expect(
    (await items('?names=requests_per_s,queue_waiting')).slice(0, 2).map(({ values }) => values),
  ).toEqual([
    { requests_per_s: 2, queue_waiting: 4 },
    { requests_per_s: 4, queue_waiting: 4 },
  ]);
  expect((await items('?names=requests_per_s&host=one:1')).map(({ values }) => values)).toEqual([
    { requests_per_s: 1 },
    { requests_per_s: 2 },
  ]);
  const hour = await items('?step_s=3600&names=processes');
  expect(hour.length).toBeLessThanOrEqual(2);
});

test.each(['names=nothing', 'created_after=yesterday', 'step_s=61', 'step_s=0', 'host='])(
  '%s is rejected',
  async (query) => {
    expectFieldRefused(await ask(`?${query}`), query.slice(0, query.indexOf('=')));
  },
);

test('a series with too many entries needs a larger step', async () => {
  const since = new Date(Date.now() - 26 * 3_600_000).toISOString();
  expectFieldRefused(await ask(`?created_after=${since}`), 'step_s');
  expect((await ask(`?created_after=${since}&step_s=120`)).status).toBe(200);
  expectRefusal(await call(service, 'GET /admin/samples', { headers: asUser('ann') }), 401);
});
