// Checks whether a process is ready for requests, uploads or jobs, and whether workers are alive (contract
// B11).
import { READINESS_PURPOSES, type ReadinessPurpose } from '@mediary/contract/enums';
import { createShortCache } from '../platform/concurrency/short-cache.ts';
import { unavailable } from '../platform/http/errors.ts';
import { diskFull } from '../platform/disk/free-space.ts';
import { isClockTrusted } from '../platform/postgres/database-clock.ts';
import { isRefusal } from '../storage/whole-objects.ts';
import type { LiveWorker, OperationsContext } from './context.ts';
import { probeDatabase } from './operations.sql.ts';

/** When a worker was last alive. Changed by each check. */
type WorkerWatch = { seenAt: Date; isReported: boolean };

type Readiness = {
  /** null: not checked. */
  readonly components: { readonly database: 'ok'; readonly store: 'ok' | null; readonly queue: 'ok' | null };
  readonly workers: readonly LiveWorker[];
  readonly warnings: readonly ('no_workers' | 'scratch_disk_full' | 'worker_clock_skew')[];
};

const MAX_AGE_MS = 1000;

type CheckedReadiness = { readonly readiness: Readiness } | { readonly error: unknown };

/** Anybody may ask: all callers share a check, and its result for a second, also that of an outage. */
export function createReadinessChecks(
  ctx: OperationsContext,
): (purpose: ReadinessPurpose) => Promise<Readiness> {
  const watch: WorkerWatch = { seenAt: ctx.now(), isReported: false };
  const { get } = createShortCache<CheckedReadiness>({
    load: (purpose) =>
      checkReadiness(ctx, watch, purpose as ReadinessPurpose).then(
        (readiness) => ({ readiness }),
        (error: unknown) => ({ error }),
      ),
    maxAgeMs: MAX_AGE_MS,
    maxEntries: READINESS_PURPOSES.length,
  });
  return async (purpose) => {
    if (ctx.service.isStopping()) throw unavailable('The process is stopping');
    const checked = (await get(purpose)) as CheckedReadiness;
    if ('error' in checked) throw checked.error;
    return checked.readiness;
  };
}

/**
 * Throws UNAVAILABLE and names the failed component. Without workers the process stays ready, because it can
 * still handle requests.
 */
async function checkReadiness(
  ctx: OperationsContext,
  watch: WorkerWatch,
  purpose: ReadinessPurpose,
): Promise<Readiness> {
  const [isForUploads, isForJobs] = [purpose !== 'serving', purpose === 'jobs'];
  const probe = await probeDatabase(ctx.db);
  if (isForJobs && !probe?.queue) throw unavailable('The tables of the job queue are missing');
  if (isForUploads) await checkStorage(ctx);
  const workers = await ctx.providers.listWorkers();
  watchWorkers(ctx, watch, workers);
  return {
    components: { database: 'ok', store: isForUploads ? 'ok' : null, queue: isForJobs ? 'ok' : null },
    workers,
    warnings: [
      ...(watch.isReported ? (['no_workers'] as const) : []),
      ...(probe?.waits ? (['scratch_disk_full'] as const) : []),
      ...(workers.every(({ clock_skew_ms: skew }) => isClockTrusted(skew))
        ? []
        : (['worker_clock_skew'] as const)),
    ],
  };
}

async function checkStorage({ store, machine }: OperationsContext): Promise<void> {
  await machine.requireDatabaseSpace();
  await store.check().catch((error: unknown) => {
    throw isRefusal(error, 'full')
      ? diskFull('object store', error)
      : unavailable('The object store is not available', error);
  });
}

/** Workers may start after the API, and a restart takes a moment. */
const NO_WORKERS_GRACE_MS = 60_000;

/** Logs once each time that the workers are gone. */
function watchWorkers(
  { now, log }: OperationsContext,
  watch: WorkerWatch,
  workers: readonly LiveWorker[],
): void {
  if (workers.length > 0) {
    Object.assign(watch, { seenAt: now(), isReported: false });
    return;
  }
  if (watch.isReported || now().getTime() - watch.seenAt.getTime() < NO_WORKERS_GRACE_MS) return;
  log.warn('no worker is alive: uploads are accepted, but nothing is encoded until one starts');
  watch.isReported = true;
}
