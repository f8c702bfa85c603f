// Checks whether the service can work: database, object store and job queue, and whether workers are alive
// (contract B9).
import type { Bound } from '../platform/bind.ts';
import { unavailable } from '../platform/errors.ts';
import { diskFull, type SpaceGuard } from '../platform/free-space.ts';
import type { Logger } from '../platform/logger.ts';
import { isClockTrusted } from '../platform/postgres/database-clock.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { listWorkers } from '../providers/workers.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { isRefusal } from '../storage/whole-objects.ts';
import { probeDatabase } from './operations.sql.ts';

type HealthNeeds = {
  readonly listWorkers: Bound<typeof listWorkers>;
  readonly db: Database;
  readonly store: ObjectStore;
  readonly requireDatabaseSpace: SpaceGuard;
  readonly log: Logger;
  readonly now: () => Date;
  readonly isStopping: () => boolean;
  readonly watch: WorkerWatch;
};

/** When a worker was last alive. Changed by each check. */
export type WorkerWatch = { seenAt: Date; isReported: boolean };

export type Workers = Awaited<ReturnType<typeof listWorkers>>;

type Readiness = {
  readonly components: { readonly database: 'ok'; readonly store: 'ok'; readonly queue: 'ok' };
  readonly workers: Workers;
  readonly warnings: readonly ('no_workers' | 'scratch_disk_full' | 'worker_clock_skew')[];
};

/**
 * Throws UNAVAILABLE and names the failed component. Without workers the process stays ready, because it can
 * still handle requests.
 */
export async function checkReadiness(needs: HealthNeeds): Promise<Readiness> {
  const { db, store, requireDatabaseSpace } = needs;
  if (needs.isStopping()) throw unavailable('The process is stopping');
  const probe = await probeDatabase(db);
  if (!probe?.queue) throw unavailable('The tables of the job queue are missing');
  await requireDatabaseSpace();
  await store.check().catch((error: unknown) => {
    throw isRefusal(error, 'full')
      ? diskFull('object store', error)
      : unavailable('The object store is not available', error);
  });
  const workers = await needs.listWorkers();
  return {
    components: { database: 'ok', store: 'ok', queue: 'ok' },
    workers,
    warnings: [
      ...toWarnings(needs, workers),
      ...(probe.waits ? (['scratch_disk_full'] as const) : []),
      ...(workers.every(({ clock_skew_ms: skew }) => isClockTrusted(skew))
        ? []
        : (['worker_clock_skew'] as const)),
    ],
  };
}

/** Workers may start after the API, and a restart takes a moment. */
const NO_WORKERS_GRACE_MS = 60_000;

/** Logs once each time that the workers are gone. */
function toWarnings({ watch, now, log }: HealthNeeds, workers: Workers): Readiness['warnings'] {
  if (workers.length > 0) {
    Object.assign(watch, { seenAt: now(), isReported: false });
    return [];
  }
  if (now().getTime() - watch.seenAt.getTime() < NO_WORKERS_GRACE_MS) return [];
  if (!watch.isReported)
    log.warn('no worker is alive: uploads are accepted, but nothing is encoded until one starts');
  watch.isReported = true;
  return ['no_workers'];
}
