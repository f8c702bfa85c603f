// Gauges of the database's state and of this process: assets, queues, free space, build.
import { shareReading } from '../../platform/concurrency/shared-reading.ts';
import { freeBytes } from '../../platform/disk/free-space.ts';
import type { OperationsContext } from '../context.ts';
import { countAssets, countEndpoints, findOldestProcessing, listQueueStates } from './metrics.sql.ts';

const ASSETS = {
  name: 'mediary_assets',
  help: 'Assets that are not deleted, by state and provider; images have none.',
  labels: ['state', 'provider'],
} as const;

const OLDEST_PROCESSING = {
  name: 'mediary_assets_oldest_processing_age_seconds',
  help: 'Time since the upload of the oldest asset in processing ended, by provider.',
  labels: ['provider'],
} as const;

const JOBS = {
  name: 'mediary_queue_jobs',
  help: 'Jobs by queue and state: ready to start, deferred until later, or active.',
  labels: ['queue', 'state'],
} as const;

const OLDEST_JOB = {
  name: 'mediary_queue_oldest_job_age_seconds',
  help: 'How long the job that waits longest could have started, by queue; 0 if none waits.',
  labels: ['queue'],
} as const;

const WORKERS = {
  name: 'mediary_workers',
  help: 'Processes with jobs by state: live, draining, or lost or stopped in the last 24 hours.',
  labels: ['state'],
} as const;

const ENDPOINTS = {
  name: 'mediary_webhook_endpoints',
  help: 'Webhook endpoints by status: enabled, disabled, or paused after failed deliveries.',
  labels: ['status'],
} as const;

const FREE_BYTES = {
  name: 'mediary_store_disk_free_bytes',
  help: 'Free space of the disk of the object store, where it is a folder.',
  labels: [],
} as const;

const BUILD = {
  name: 'mediary_build_info',
  help: 'Always 1; version and role of the process.',
  labels: ['version', 'role'],
} as const;

/** However often and by however many it is scraped, a process takes this share of the database's time. */
const MIN_AGE_MS = 30_000;
const MAX_SHARE = 0.01;

/** Readings that metrics and operations share. */
export type StateReadings = { readonly countAssets: () => Promise<AssetCount> };

type AssetCount = { readonly rows: Awaited<ReturnType<typeof countAssets>>; readonly at: Date };

export const openReadings = ({ db, now }: OperationsContext): StateReadings => ({
  countAssets: shared(async () => ({ rows: await countAssets(db), at: now() })),
});

export function registerGauges(ctx: OperationsContext, readings: StateReadings): void {
  const { settings, machine } = ctx;
  const { metrics, version } = ctx.service;
  registerAssetGauges(ctx, readings);
  registerQueueGauges(ctx);
  registerCountGauges(ctx);
  metrics.registerGauge(BUILD, () => [{ labels: { version, role: settings.role }, value: 1 }]);
  if (!settings.s3)
    metrics.registerGauge(FREE_BYTES, async () => [
      { labels: {}, value: await freeBytes(machine.storeFolder) },
    ]);
}

function registerAssetGauges({ db, service: { metrics } }: OperationsContext, readings: StateReadings): void {
  const readOldest = shared(() => findOldestProcessing(db));
  metrics.registerGauge(ASSETS, async () =>
    (await readings.countAssets()).rows.map(({ stream_status: state, provider, count }) => ({
      labels: { state, provider: provider ?? 'none' },
      value: count,
    })),
  );
  metrics.registerGauge(OLDEST_PROCESSING, async () =>
    (await readOldest()).map(({ provider, seconds }) => ({
      labels: { provider: provider ?? 'none' },
      value: seconds,
    })),
  );
}

function registerQueueGauges({ db, service: { metrics } }: OperationsContext): void {
  const readStates = shared(() => listQueueStates(db));
  metrics.registerGauge(JOBS, async () =>
    (await readStates()).flatMap(({ name: queue, ready, deferred, active }) =>
      Object.entries({ ready, deferred, active }).map(([state, value]) => ({
        labels: { queue, state },
        value,
      })),
    ),
  );
  metrics.registerGauge(OLDEST_JOB, async () =>
    (await readStates()).map(({ name: queue, seconds }) => ({ labels: { queue }, value: seconds ?? 0 })),
  );
}

function registerCountGauges({ db, providers, service: { metrics } }: OperationsContext): void {
  const readWorkers = shared(() => providers.countWorkers());
  const readEndpoints = shared(() => countEndpoints(db));
  metrics.registerGauge(WORKERS, async () =>
    (await readWorkers()).map(({ state, count }) => ({ labels: { state }, value: count })),
  );
  metrics.registerGauge(ENDPOINTS, async () =>
    (await readEndpoints()).map(({ status, count }) => ({ labels: { status }, value: count })),
  );
}

const shared = <T>(read: () => Promise<T>): (() => Promise<T>) =>
  shareReading({ read, minAgeMs: MIN_AGE_MS, maxShare: MAX_SHARE });
