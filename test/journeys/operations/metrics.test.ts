// Operators watch the service with Prometheus: who may scrape, and what the metrics say (contract B11).
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '@mediary/contract/operations';
import { ffmpegPath, makeClip } from '../../support/clips/clips.ts';
import { bombPng } from '../../support/clips/pictures.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import { status } from '../../support/http/webhook-receiver.ts';
import { IMAGE, ingest, offer, settled } from '../../support/media.ts';
import { startOutbound } from '../../support/providers/outbound-webhooks.ts';
import { asOperator, asService, asUser, call, eventually, httpServerOf } from '../../support/service.ts';
import { type SharedData, startSharedData } from '../../support/postgres/shared-data.ts';
import { directAddressOf, type Scrape, scrape } from '../../support/service/metrics.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../../support/service/service-process.ts';

const OWNER = 'owner-who-must-not-appear';

describe('a service', () => {
  let outbound: Awaited<ReturnType<typeof startOutbound>>;
  let own: string;
  beforeAll(async () => {
    outbound = await startOutbound();
    own = directAddressOf(outbound.service);
  });
  afterAll(() => outbound?.stop());

  const until = (isEnough: (metrics: Scrape) => boolean): Promise<Scrape> =>
    eventually(() => scrape(own), isEnough, { withinMs: 120_000 });
  const refused = (headers: Record<string, string>, expected: object) =>
    call({ url: '' }, `GET ${own}/metrics`, { headers }).then((answer) =>
      expect(expectRefusal(answer, 401)).toMatchObject({ error_code: 'UNAUTHORIZED', details: expected }),
    );

  test('is scraped with the operator key, and from its own machine without one', async () => {
    const proxied = { 'x-forwarded-for': '203.0.113.7' };
    await scrape(own);
    await scrape(own.replace('127.0.0.1', 'localhost'));
    await scrape(own, { ...asOperator, ...proxied });
    await refused(proxied, { reason: 'missing', field: 'X-Operator-Key' });
    await refused({ forwarded: 'for=203.0.113.7' }, { reason: 'missing' });
    await refused(asUser('ann'), { reason: 'missing' });
    await refused(asService, { reason: 'missing' });
    await refused({ origin: 'https://page.example.com' }, { reason: 'missing' });
    await refused({ 'x-operator-key': 'wrong' }, { reason: 'invalid_credential' });
  });

  test('is not scraped by a page whose name leads to this machine', async () => {
    const server = httpServerOf(outbound.service);
    const ask = (host: string) => server.inject({ url: '/metrics', headers: { host } });
    expect((await ask('localhost:8080')).statusCode).toBe(200);
    expect((await ask('media.example.com')).statusCode).toBe(401);
  });

  test('counts requests by operation and status', async () => {
    const before = await scrape(own);
    const get = (path: string) => call(outbound.service, path, { headers: asUser(OWNER) });
    await get('GET /media');
    await get('GET /media');
    await get('GET /media?limit=x');
    await get('GET /nothing');
    const after = await until(
      ({ sumOf }) => sumOf('mediary_http_requests_total', { operation: 'none', status: '4xx' }) !== undefined,
    );
    const more = (labels: Record<string, string>, name = 'mediary_http_requests_total') =>
      (after.sumOf(name, labels) ?? 0) - (before.sumOf(name, labels) ?? 0);
    expect(more({ operation: 'listAssets', status: '2xx' })).toBe(2);
    expect(more({ operation: 'listAssets', status: '4xx' })).toBe(1);
    expect(more({ operation: 'none', status: '4xx' })).toBe(1);
    expect(more({ operation: 'listAssets' }, 'mediary_http_request_duration_seconds_count')).toBe(3);
  });

  test('counts assets, jobs, webhooks and stored objects, without ids and owners', async () => {
    await outbound.create('/works');
    await outbound.create('/broken');
    outbound.receiver.respond('/broken', status(500));
    const image = await offer(outbound.service, OWNER, { bytes: bombPng(8, 8), fields: IMAGE });
    await settled(outbound.service, OWNER, image.id);
    const video = await ingest(outbound.service, OWNER, { file: await makeClip({ seconds: 1 }) });
    expect(video.stream_status).toBe('ready');
    const broken = await offer(outbound.service, OWNER, {
      bytes: (await readFile(await makeClip({ seconds: 1 }))).subarray(0, 1000),
    });
    expect(await settled(outbound.service, OWNER, broken.id)).toMatchObject({ stream_status: 'failed' });
    const unsigned = { json: { asset_id: video.id, status: 'ready' } };
    await call(outbound.service, 'POST /webhooks/stream/onprem', unsigned);

    const metrics = await until(
      ({ sumOf }) => (sumOf('mediary_webhook_attempts_total', { result: 'refused' }) ?? 0) > 0,
    );
    const { sumOf, text } = metrics;
    const milestone = (labels: object) => sumOf('mediary_asset_milestones_total', { ...labels });
    expect(milestone({ milestone: 'ready', kind: 'image', provider: 'none' })).toBe(1);
    expect(milestone({ milestone: 'ready', kind: 'video', provider: 'onprem' })).toBe(1);
    expect(milestone({ milestone: 'failed', kind: 'video', provider: 'onprem' })).toBe(1);
    expect(sumOf('mediary_asset_time_to_playable_seconds_count')).toBe(2);
    expect(sumOf('mediary_job_runs_total', { queue: 'process-image', result: 'succeeded' })).toBe(1);
    expect(sumOf('mediary_job_run_duration_seconds_count', { queue: 'encode-asset' })).toBeGreaterThan(0);
    expect(sumOf('mediary_encode_speed_ratio_count', { phase: 'first' })).toBe(1);
    expect(sumOf('mediary_webhook_deliveries_total', { provider: 'onprem', verdict: 'bad_signature' })).toBe(
      1,
    );
    expect(
      sumOf('mediary_webhook_deliveries_total', { provider: 'onprem', verdict: 'applied' }),
    ).toBeGreaterThan(0);
    expect(sumOf('mediary_webhook_attempts_total', { result: 'accepted' })).toBeGreaterThan(0);
    expect(sumOf('mediary_object_store_operation_duration_seconds_count', { result: 'ok' })).toBeGreaterThan(
      0,
    );
    expect(sumOf('mediary_database_statement_duration_seconds_count')).toBeGreaterThan(10);
    for (const id of [image.id, video.id, broken.id, OWNER, 'works', 'clip.mp4'])
      expect(text).not.toContain(id);
  });

  test('has bounded labels, a sentence for each metric, and the state of database and process', async () => {
    const { samples, text, sumOf } = await scrape(own);
    const operations = new Set(samples.flatMap(({ labels: { operation } }) => operation ?? []));
    const known = new Set([...OPERATIONS.map(({ id }) => id), 'receiveOnpremWebhook', 'none']);
    const ofRequests = samples.filter(({ name }) => name === 'mediary_http_requests_total');
    expect(ofRequests.filter(({ labels }) => !known.has(labels['operation'] ?? ''))).toEqual([]);
    expect(operations.size).toBeGreaterThan(5);
    for (const [, help] of text.matchAll(/^# HELP mediary_\w+ (.*)$/gm)) expect(help).toMatch(/^[A-Z].*\.$/);
    expect(sumOf('mediary_build_info', { role: 'all' })).toBe(1);
    expect(sumOf('mediary_queue_jobs', { queue: 'encode-asset' })).toBe(0);
    expect(sumOf('mediary_database_connections')).toBeGreaterThan(0);
    expect(sumOf('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(sumOf('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
  });

  test('is described by the guide, metric by metric', async () => {
    const guide = await readFile('docs/guides/going-to-production.md', 'utf8');
    const { text } = await scrape(own);
    const names = [...text.matchAll(/^# TYPE (mediary_\w+)/gm)].map(([, name]) => `\`${name}\``);
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !guide.includes(name))).toEqual([]);
  });
});

describe('an API process and a worker', () => {
  let data: SharedData;
  let [api, worker]: (ServiceProcess | undefined)[] = [];
  beforeAll(async () => {
    data = await startSharedData();
    const shared = sharedBy({ ...data, ffmpegPath: ffmpegPath() });
    api = await startProcess({ ...shared, MEDIARY_ROLE: 'api', HEALTH_PORT: '0' });
    worker = await startProcess({ ...workerOf(shared, api), HEALTH_PORT: '0' });
  });
  afterAll(async () => {
    await Promise.all([api, worker].map((process) => process?.end('SIGKILL')));
    await endAllIn(data.dataDir);
    await data.remove();
  });

  test('are scraped on HEALTH_PORT without credentials, each with what it does', async () => {
    if (!api?.healthUrl || !worker?.healthUrl) throw new Error('HEALTH_PORT is not served');
    const image = await offer(api, OWNER, { bytes: bombPng(8, 8), fields: IMAGE });
    await settled(api, OWNER, image.id);
    const [ofApi, ofWorker] = [
      await scrape(api.healthUrl),
      await scrape(worker.healthUrl, { 'x-forwarded-for': '203.0.113.7' }),
    ];
    expect(ofWorker.sumOf('mediary_job_runs_total', { queue: 'process-image', result: 'succeeded' })).toBe(1);
    expect(ofApi.sumOf('mediary_job_runs_total', { queue: 'process-image' })).toBeUndefined();
    expect(ofApi.sumOf('mediary_http_requests_total', { operation: 'createUpload', status: '2xx' })).toBe(1);
    expect(ofWorker.sumOf('mediary_http_requests_total', { operation: 'createUpload' })).toBeUndefined();
    expect(ofWorker.sumOf('mediary_queue_oldest_job_age_seconds', { queue: 'process-image' })).toBe(0);
    expect(ofApi.sumOf('mediary_assets', { state: 'ready', provider: 'none' })).toBe(1);
    expect(ofApi.sumOf('mediary_build_info', { role: 'api' })).toBe(1);
    expect(ofWorker.sumOf('mediary_build_info', { role: 'worker' })).toBe(1);
  });
});
