// Operators load alerts and dashboards of deploy/observability: queries find what the service exports.
import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { ffmpegPath, makeClip } from '../../support/clips/clips.ts';
import { bombPng } from '../../support/clips/pictures.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/http/webhook-receiver.ts';
import { IMAGE, ingest, offer, settled } from '../../support/media.ts';
import { asService, call, eventually } from '../../support/service.ts';
import { newDataDir, newDatabaseDir } from '../../support/service/data-folders.ts';
import {
  missingPrometheus,
  type PrometheusServer,
  runPromtool,
  startPrometheus,
} from '../../support/service/prometheus.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../../support/service/service-process.ts';
import { runStorageCheck } from '../../support/service/storage-check.ts';
import { dashboardQueries, readAlerts } from '../../support/tree/observability.ts';

/** Panels that are empty while all is well, or without a part of the service. */
const EMPTY_PANELS: Readonly<Record<string, string>> = {
  'overview: Cached segments': 'no viewer asks twice for a segment within a second',
  'overview: Oldest in processing': 'no asset is in processing any more',
  'overview: Runs that did not succeed': 'every run succeeds',
  'overview: Repairs': 'nothing has to be repaired',
  'overview: Store errors': 'the object store works',
  'overview: Open circuits': 'no hosted provider is set up',
  'overview: Age of the backup': 'BACKUP_TO is not set',
  'overview: Removals': 'nothing is removed yet',
  'encoding: In processing': 'no video is in processing any more',
  'encoding: Oldest in processing': 'no video is in processing any more',
  'encoding: Repairs': 'nothing has to be repaired',
  'encoding: Hand-overs to your encoder': 'ONPREM_ENCODER_URL is not set',
};

const missing = missingPrometheus();
let postgres: EmbeddedPostgres;
let folders: readonly [string, string];
let receiver: WebhookReceiver;
let [api, worker]: (ServiceProcess | undefined)[] = [];
let prometheus: PrometheusServer | undefined;

async function startService(): Promise<ServiceProcess> {
  folders = [await newDatabaseDir(), await newDataDir()];
  postgres = await startEmbeddedPostgres(folders[0]);
  receiver = await startWebhookReceiver();
  const shared = {
    ...sharedBy({ postgres, dataDir: folders[1], ffmpegPath: ffmpegPath() }),
    OUTBOUND_ALLOW_PRIVATE: 'webhooks',
  };
  const started = await startProcess({ ...shared, MEDIARY_ROLE: 'api', HEALTH_PORT: '0' });
  api = started;
  worker = await startProcess({ ...workerOf(shared, started), HEALTH_PORT: '0' });
  return started;
}

/** An image and a video become ready, the store is checked, and webhooks come and go. */
async function useService(service: ServiceProcess): Promise<void> {
  const json = { url: receiver.url('/events') };
  await call(service, 'POST /webhook-endpoints', { headers: asService, json });
  const image = await offer(service, 'ann', { bytes: bombPng(8, 8), fields: IMAGE });
  expect(await settled(service, 'ann', image.id)).toMatchObject({ stream_status: 'ready' });
  const video = await ingest(service, 'ann', { file: await makeClip({ seconds: 1 }) });
  expect(video).toMatchObject({ stream_status: 'ready' });
  await call(service, 'POST /webhooks/stream/onprem', { json: { asset_id: video.id, status: 'ready' } });
  await runStorageCheck(service);
  const isTold = () =>
    receiver
      .received('/events')
      .some(({ message }) => message.type === 'asset.ready' && message.asset_id === video.id);
  await eventually(async () => isTold(), Boolean);
}

/** Waits until Prometheus has scraped both processes twice. */
const scrapedTwice = (server: PrometheusServer) =>
  eventually(
    () =>
      server
        .query('min(count_over_time(mediary_build_info[5m])) >= 2 and count(up == 1) == 2')
        .catch(() => []),
    (found) => found.length > 0,
    { withinMs: 120_000 },
  );

describe('deploy/observability', () => {
  beforeAll(async () => {
    if (missing !== undefined) return;
    const service = await startService();
    await useService(service);
    const targets = [service, worker].map((process) => new URL(process?.healthUrl ?? '').host);
    prometheus = await startPrometheus(targets);
    await scrapedTwice(prometheus);
  });
  afterAll(async () => {
    if (missing !== undefined) return;
    await prometheus?.stop();
    await Promise.all([api, worker].map((process) => process?.end('SIGKILL')));
    await endAllIn(folders[1]);
    await Promise.all([receiver.stop(), postgres.stop()]);
    for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  beforeEach(({ skip }) => skip(missing !== undefined, missing));

  test('promtool accepts configuration and alerts, and runs their tests', async () => {
    await runPromtool('check', 'config', 'prometheus.yml');
    await runPromtool('check', 'rules', 'alerts.yml');
    await runPromtool('test', 'rules', 'alerts.test.yml');
  });

  test('Prometheus evaluates every alert', async () => {
    const rules = await eventually(
      async () => (await prometheus?.rules()) ?? [],
      (all) => all.every(({ health }) => health !== 'unknown'),
      { withinMs: 120_000 },
    );
    expect(rules.map(({ name }) => name).sort()).toEqual(
      readAlerts()
        .map(({ name }) => name)
        .sort(),
    );
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
  });

  test('every query of the dashboards finds a series', async () => {
    const empty: string[] = [];
    for (const { place, expr } of dashboardQueries) {
      const found = await prometheus?.query(expr.replaceAll('$__rate_interval', '1m'));
      if (found?.length === 0 && !(place in EMPTY_PANELS)) empty.push(`${place}: ${expr}`);
    }
    expect(empty).toEqual([]);
    const places = dashboardQueries.map(({ place }) => place);
    expect(Object.keys(EMPTY_PANELS).filter((place) => !places.includes(place))).toEqual([]);
  });

  test('every query of the runbooks is valid', async () => {
    const text = await readFile('docs/runbooks.md', 'utf8');
    const code = Array.from(text.matchAll(/`([^`]+)`/g), ([, query = '']) => query);
    const queries = code.filter((query) => /\b(?:mediary|nodejs|process)_|\bup\b/.test(query));
    expect(queries.length).toBeGreaterThan(20);
    for (const query of queries) await prometheus?.query(query);
  });

  test('a worker that is killed and a database that stops raise their alerts', async () => {
    const raises = (name: string) =>
      eventually(
        async () => (await prometheus?.rules())?.find((rule) => rule.name === name)?.state,
        (state) => state !== undefined && state !== 'inactive',
        { withinMs: 120_000 },
      );
    await worker?.end('SIGKILL');
    await raises('MediaryDown');
    await postgres.stop();
    await raises('MediaryDatabaseFailing');
  });
});
