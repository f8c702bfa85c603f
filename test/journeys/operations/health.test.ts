// /healthz and /readyz tell load balancers whether the process is alive and ready (contract B7, B9).
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes } from '../../support/media.ts';
import {
  type Answer,
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { signalProcesses } from '../../support/service/traces.ts';

let service: TestService;
/** Of the service's clock, in milliseconds. */
let offset = 0;
beforeAll(async () => {
  service = await startTestService(
    { MEDIARY_ROLE: 'api', LOG_LEVEL: 'silent' },
    { now: () => new Date(Date.now() + offset), ownsServer: true },
  );
});
afterAll(() => service.stop());
afterEach(() => {
  offset = 0;
});

const READY = { database: 'ok', store: null, queue: null, worker_count: 0 };
const ask = (path: string): Promise<Answer> => call(service, `GET ${service.address}${path}`);
/** A result is kept for a second. */
const expectReady = async (expected: object = READY) =>
  expect(
    expectSuccess(
      await eventually(
        () => ask('/readyz'),
        ({ status, body }) => status === 200 && isDeepStrictEqual(body.data, expected),
      ),
    ),
  ).toEqual(expected);

const untilAway = (path: string) =>
  eventually(
    () => ask(path),
    ({ status }) => status !== 200,
  );

async function expectAway(answer: Answer): Promise<void> {
  expect(expectRefusal(answer, 503)).toMatchObject({ error_code: 'UNAVAILABLE', details: null });
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expectSuccess(await ask('/healthz'));
}

test('a running service is alive and ready, without credentials', async () => {
  expect(expectSuccess(await ask('/healthz'))).toEqual({ status: 'ok' });
  await expectReady();
  expect((await fetch(`${service.address}/readyz`, { method: 'HEAD' })).status).toBe(200);
});

test('each purpose checks more than the one before', async () => {
  expect(expectSuccess(await ask('/readyz?for=serving'))).toEqual(READY);
  expect(expectSuccess(await ask('/readyz?for=uploads'))).toEqual({ ...READY, store: 'ok' });
  expect(expectSuccess(await ask('/readyz?for=jobs'))).toEqual({ ...READY, store: 'ok', queue: 'ok' });
  const { details } = expectRefusal(await ask('/readyz?for=luck'), 400);
  expect(details).toMatchObject({ field: 'for', allowed: ['serving', 'uploads', 'jobs'] });
});

describe('an API process', () => {
  const worker = () =>
    service.adapters.db.all(
      sql('insert worker of the test')`
        insert into workers (id, roles, version, providers, seen_at)
        values (gen_random_uuid(), '{worker}', '0.0.0', '{onprem}', now() - ${age} * interval '1 second')`,
    );
  let age = 0;

  test('stays ready without workers, and warns after a minute', async () => {
    offset = 30_000;
    await expectReady();
    offset = 61_000;
    await expectReady({ ...READY, warnings: ['no_workers'] });
  });

  test('counts the workers that were seen lately; the operator sees each of them', async () => {
    await worker();
    age = 40;
    await worker();
    await expectReady({ ...READY, worker_count: 1 });
    const seen = await call(service, `GET ${service.address}/readyz`, { headers: asOperator });
    expect(seen.body.data['workers']).toEqual([
      {
        id: expect.any(String),
        roles: ['worker'],
        version: '0.0.0',
        providers: ['onprem'],
        started_at: expect.any(String),
        seen_at: expect.any(String),
        video_encoder: null,
        clock_skew_ms: 0,
      },
    ]);
    await service.adapters.db.all(sql('delete workers of the test')`delete from workers`);
  });
});

test('a warning says that encodes wait for disk space', async () => {
  const { db } = service.adapters;
  await db.all(sql('insert wait of the test')`
    insert into encode_waits (asset_id, attempt, worker, needed_bytes, free_bytes)
    values (gen_random_uuid(), 1, 'machine:1', 2, 1)`);
  await expectReady({ ...READY, warnings: ['scratch_disk_full'] });
  await db.all(
    sql('age wait of the test')`update encode_waits set checked_at = now() - interval '2 minutes'`,
  );
  await expectReady();
});

describe('the store', () => {
  const incoming = () => join(service.dataDir, 'objects', 'incoming');
  /** The folder is away, or something else is in its place. */
  const without = async (work: () => Promise<void>) => {
    await rename(incoming(), `${incoming()}-away`);
    try {
      await work();
    } finally {
      await rename(`${incoming()}-away`, incoming());
    }
  };

  test('is not ready while its folder is missing', async () => {
    const started = await openUpload(service, 'ann', IMAGE);
    await without(async () => {
      const answer = await untilAway('/readyz?for=uploads');
      await expectAway(answer);
      expect(answer.body.message).toMatch(/store/);
      await expectAway(await ask('/readyz?for=jobs'));
      await expectAway(await putBytes(started, Buffer.from('bytes')));
      // Reads and deletions go on, so load balancers keep the process.
      expectSuccess(await ask('/readyz'));
    });
    expectSuccess(
      await eventually(
        () => ask('/readyz?for=uploads'),
        ({ status }) => status === 200,
      ),
    );
    expectSuccess(await putBytes(started, Buffer.from('bytes')));
  });

  test('is not ready while it is read-only', async () => {
    await rename(incoming(), `${incoming()}-away`);
    await writeFile(incoming(), 'in the way');
    const answer = await untilAway('/readyz?for=uploads');
    await rename(`${incoming()}`, `${incoming()}-file`);
    await rename(`${incoming()}-away`, incoming());
    await expectAway(answer);
  });
});

describe('the database', () => {
  test('is not ready while it hangs; requests time out, and succeed when it responds again', async () => {
    const { asset_id: id } = await openUpload(service, 'ann', IMAGE);
    await signalProcesses(service.dataDir, 'SIGSTOP');
    try {
      const headers = asUser('ann');
      const answers = await Promise.all([
        untilAway('/readyz'),
        call(service, `GET /media/${id}`, { headers }),
        call(service, 'POST /media/upload-url?expand=asset', { headers, json: IMAGE }),
      ]);
      for (const answer of answers) await expectAway(answer);
      expectRefusal(await call(service, 'GET /media'), 401);
    } finally {
      await signalProcesses(service.dataDir, 'SIGCONT');
    }
    await expectReady();
    expectSuccess(
      await eventually(
        () => call(service, `GET /media/${id}`, { headers: asUser('ann') }),
        ({ status }) => status === 200,
      ),
    );
  });
});
