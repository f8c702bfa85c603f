// Operators look into the queues, run jobs again and cancel running ones; no asset is left in a state that
// nobody ends (contract B9).
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitForEngineEnd } from '../../support/encoding/engines.ts';
import { makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import { file, type FileServer, holdAt, startFileServer } from '../../support/http/file-server.ts';
import { freePort } from '../../support/http/free-port.ts';
import { complete, IMAGE, offer, openUpload, putBytes, readAsset, settled } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import {
  changeJob,
  getJob,
  jobOf,
  type JobJson,
  lastSentence,
  listJobs,
} from '../../support/service/jobs.ts';
import { rows } from '../../support/service/traces.ts';
import { NAMED, PNG, startImport } from '../../support/uploads/imports.ts';

const solidPng = () =>
  sharp({ create: { width: 64, height: 64, channels: 3, background: '#0a7' } })
    .png()
    .toBuffer();

describe('a service with jobs', () => {
  let service: TestService;
  let server: FileServer;
  let film: Buffer;
  let closedPort: number;
  beforeAll(async () => {
    server = await startFileServer();
    closedPort = await freePort();
    service = await startTestService({
      FFMPEG_PATH: await pacedEngine(),
      ENCODE_CONCURRENCY: '1',
      OUTBOUND_ALLOW_PRIVATE: 'import',
      CDN_PURGE_URL: `http://127.0.0.1:${closedPort}/purge`,
    });
    film = await readFile(await makeClip({ seconds: 60 }));
  });
  afterAll(async () => {
    await service?.stop();
    await server?.stop();
  });

  const uploaded = async (): Promise<string> => {
    const started = await openUpload(service, 'ann');
    await putBytes(started, film);
    expect((await complete(service, 'ann', started.asset_id)).status).toBe(200);
    return started.asset_id;
  };
  const encoding = async (): Promise<string> => {
    const id = await uploaded();
    await eventually(
      () => readAsset(service, 'ann', id),
      ({ progress }) => progress > 0,
    );
    return id;
  };
  const remove = (id: string) => call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
  const retry = (id: string) => call(service, `POST /media/${id}/retry`, { headers: asUser('ann') });

  test('a running job is listed with its asset, its worker and its runs', async () => {
    const id = await encoding();
    const waiting = await uploaded();
    const job = await jobOf(service, id, 'active');
    expect(job).toMatchObject({
      queue: 'encode-asset',
      name: 'encode-asset',
      provider: null,
      asset_id: id,
      runs: 1,
      ended_at: null,
      next_run_at: null,
      last_error: null,
    });
    await eventually(
      () => getJob(service, job.id),
      ({ worker }) => (worker as { host: string } | null)?.host.endsWith(`:${process.pid}`) === true,
    );
    const open = await listJobs(service, '?queue=encode-asset');
    expect(open.map(({ asset_id, state }) => [asset_id, state])).toEqual([
      [id, 'active'],
      [waiting, 'waiting'],
    ]);
    await remove(waiting);
    await remove(id);
  });

  test('a cancelled encode stops, and its owner can retry', async () => {
    const id = await encoding();
    const job = await jobOf(service, id, 'active');
    expect((await changeJob(service, job.id, 'cancel')).status).toBe(200);
    await waitForEngineEnd(id, { withinMs: 30_000 });
    expect(await readAsset(service, 'ann', id)).toMatchObject({
      stream_status: 'failed',
      failure: { code: 'cancelled', retryable: true },
    });
    await eventually(
      () => getJob(service, job.id),
      ({ state }) => state === 'completed',
    );
    expect((await retry(id)).status).toBe(200);
    const again = await jobOf(service, id, 'active');
    expect(again.id).not.toBe(job.id);
    await remove(id);
  });

  test('a cancelled encode that waits never starts', async () => {
    const running = await encoding();
    const waiting = await uploaded();
    const job = await jobOf(service, waiting, 'waiting');
    const cancelled = await changeJob(service, job.id, 'cancel');
    expect(cancelled.body.data).toMatchObject({ state: 'cancelled', ended_at: expect.any(String) });
    expect((await changeJob(service, job.id, 'cancel')).status).toBe(200);
    expect(await readAsset(service, 'ann', waiting)).toMatchObject({ failure: { code: 'cancelled' } });
    expect(expectRefusal(await changeJob(service, job.id, 'run-again'), 409).details).toMatchObject({
      reason: 'job_ended',
    });
    await remove(running);
    await remove(waiting);
  });

  test('a cancelled import closes its connection, removes its bytes, and can be retried', async () => {
    const picture = await readFile(await makeClip({ seconds: 2 }));
    const held = holdAt(picture, 1000, PNG);
    const url = server.serve('/held', held.handler);
    const { id } = await startImport(service, { url, ...NAMED });
    await held.waiting;
    const job = await jobOf(service, id, 'active');
    expect(job.queue).toBe('import-asset');
    expect((await changeJob(service, job.id, 'cancel')).status).toBe(200);
    await held.closed;
    expect(await readAsset(service, 'ann', id)).toMatchObject({
      stream_status: 'failed',
      failure: { code: 'cancelled', message: expect.stringContaining('import'), retryable: true },
    });
    expect(await lastSentence(service, id)).toBe('An operator cancelled the import.');
    await eventually(
      () => rows(service.dataDir, 'select id from uploads where asset_id = $1', [id]),
      ({ length }) => length === 0,
    );
    server.serve('/held', file(picture, PNG));
    expect((await retry(id)).status).toBe(200);
    await eventually(
      () => readAsset(service, 'ann', id),
      ({ stream_status: status, failure }) => status === 'failed' && failure?.code !== 'cancelled',
    );
    await remove(id);
  });

  test('a job that fails tells why, waits for its next run, and can run at once', async () => {
    const bytes = await solidPng();
    const { id } = await offer(service, 'ann', { bytes, fields: { ...IMAGE, visibility: 'public' } });
    expect((await settled(service, 'ann', id)).stream_status).toBe('ready');
    expect((await remove(id)).status).toBe(200);
    const [failing] = await eventually(
      () => listJobs(service, `?queue=purge-cdn&asset_id=${id}&state=delayed`),
      ([first]) => (first?.runs ?? 0) >= 2,
    );
    const { id: jobId, runs, last_error } = failing as JobJson;
    expect(last_error).toEqual({ code: 'error', message: expect.stringMatching(/^CDN_PURGE_URL: /) });
    // Its next run would be in an hour.
    await rows(
      service.dataDir,
      `update pgboss.job
          set start_after = now() + interval '1 hour', retry_limit = retry_count + 1 where id = $1`,
      [jobId],
    );
    expect((await changeJob(service, jobId, 'run-again')).status).toBe(200);
    const failed = await eventually(
      () => getJob(service, jobId),
      ({ state }) => state === 'failed',
    );
    expect(failed.runs).toBeGreaterThan(runs);
    expect((await listJobs(service, '?state=failed')).map(({ id: each }) => each)).toEqual([failed.id]);
    expect(expectRefusal(await changeJob(service, failed.id, 'cancel'), 409).details).toMatchObject({
      reason: 'job_ended',
    });
    expect((await changeJob(service, failed.id, 'run-again')).status).toBe(200);
    await eventually(
      () => getJob(service, failed.id),
      ({ state, runs: more }) => state === 'failed' && more > failed.runs,
    );
  });
});
