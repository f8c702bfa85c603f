// Checks whether a process is ready for requests, uploads or jobs, and whether workers are alive (contract
// B9).
import { READINESS_PURPOSES, type ReadinessPurpose } from '@mediary/contract/enums';
import type { Bound } from '../platform/bind.ts';
import { createShortCache } from '../platform/concurrency/short-cache.ts';
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
type WorkerWatch = { seenAt: Date; isReported: boolean };

export type Workers = Awaited<ReturnType<typeof listWorkers>>;

type Readiness = {
  /** null: not checked. */
  readonly components: { readonly database: 'ok'; readonly store: 'ok' | null; readonly queue: 'ok' | null };
  readonly workers: Workers;
  readonly warnings: readonly ('no_workers' | 'scratch_disk_full' | 'worker_clock_skew')[];
};

const MAX_AGE_MS = 1000;

type Outcome = { readonly readiness: Readiness } | { readonly error: unknown };

/** Anybody may ask: all callers share a check, and its outcome for a second, also that of an outage. */
export function createReadinessChecks(needs: HealthNeeds): (purpose: ReadinessPurpose) => Promise<Readiness> {
  const { get } = createShortCache<Outcome>({
    load: (purpose) =>
      checkReadiness(needs, purpose as ReadinessPurpose).then(
        (readiness) => ({ readiness }),
        (error: unknown) => ({ error }),
      ),
    maxAgeMs: MAX_AGE_MS,
    maxEntries: READINESS_PURPOSES.length,
  });
  return async (purpose) => {
    if (needs.isStopping()) throw unavailable('The process is stopping');
    const outcome = (await get(purpose)) as Outcome;
    if ('error' in outcome) throw outcome.error;
    return outcome.readiness;
  };
}

/**
 * Throws UNAVAILABLE and names the failed component. Without workers the process stays ready, because it can
 * still handle requests.
 */
async function checkReadiness(needs: HealthNeeds, purpose: ReadinessPurpose): Promise<Readiness> {
  const [isForUploads, isForJobs] = [purpose !== 'serving', purpose === 'jobs'];
  const probe = await probeDatabase(needs.db);
  if (isForJobs && !probe?.queue) throw unavailable('The tables of the job queue are missing');
  if (isForUploads) await checkStorage(needs);
  const workers = await needs.listWorkers();
  return {
    components: { database: 'ok', store: isForUploads ? 'ok' : null, queue: isForJobs ? 'ok' : null },
    workers,
    warnings: [
      ...toWarnings(needs, workers),
      ...(probe?.waits ? (['scratch_disk_full'] as const) : []),
      ...(workers.every(({ clock_skew_ms: skew }) => isClockTrusted(skew))
        ? []
        : (['worker_clock_skew'] as const)),
    ],
  };
}

async function checkStorage({ store, requireDatabaseSpace }: HealthNeeds): Promise<void> {
  await requireDatabaseSpace();
  await store.check().catch((error: unknown) => {
    throw isRefusal(error, 'full')
      ? diskFull('object store', error)
      : unavailable('The object store is not available', error);
  });
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
