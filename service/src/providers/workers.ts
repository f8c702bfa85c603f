// The processes that run jobs: each renews its own row, so that every process sees which ones are alive.
import type { ProviderName } from '../assets/asset.ts';
import { describeClockSkew, isClockTrusted, measureClockSkew } from '../platform/postgres/database-clock.ts';
import type { ProvidersContext } from './context.ts';
import {
  deleteStaleWorkers,
  deleteWorker,
  listLiveWorkers,
  listProvidersWithVideos,
  recordWorker,
  type WorkerRow,
} from './workers.sql.ts';

/** Facts that a process reports about itself. */
export type WorkerProcess = {
  /** New at each start. */
  readonly id: string;
  readonly roles: readonly ('api' | 'worker')[];
  readonly version: string;
  readonly videoEncoder: string;
  /** Default: 10 s. */
  readonly beatEveryMs?: number | undefined;
};

/** `stop` deletes the row of the process. */
type Heartbeat = { stop(): Promise<void> };

const BEAT_MS = 10_000;

export const listWorkers = ({ db }: ProvidersContext): Promise<readonly WorkerRow[]> => listLiveWorkers(db);

/** True when a live process has the settings of the provider's API. */
export const hasWorkerFor = async (ctx: ProvidersContext, name: ProviderName): Promise<boolean> =>
  (await listWorkers(ctx)).some(({ providers }) => providers.includes(name));

/** Hosted providers need an API; encoders work on the bytes in the store. */
export const listServedProviders = ({ registry }: ProvidersContext): ProviderName[] =>
  [...registry.values()].filter(({ kind, api }) => kind === 'encoder' || api).map(({ name }) => name);

/** Logs a beat that fails; the next one may succeed. */
export async function startHeartbeat(
  ctx: ProvidersContext,
  { id, roles, version, videoEncoder, beatEveryMs = BEAT_MS }: WorkerProcess,
): Promise<Heartbeat> {
  const { db, log, clocks } = ctx;
  const worker = {
    id,
    roles: [...roles],
    version,
    providers: listServedProviders(ctx),
    video_encoder: videoEncoder,
  };
  const logFailure = (error: unknown) =>
    log.warn({ err: error, worker: worker.id }, 'cannot record the heartbeat of this worker');
  const watchClock = createClockWatch(log, worker.id);
  const beat = async () => {
    try {
      const skewMs = await measureClockSkew(clocks);
      watchClock(skewMs);
      await recordWorker(db, { ...worker, clock_skew_ms: skewMs });
      await deleteStaleWorkers(db);
    } catch (error) {
      logFailure(error);
    }
  };
  let beating: Promise<unknown> = beat();
  await beating;
  await logStart(ctx, worker).catch(logFailure);
  const timer = setInterval(() => {
    beating = beating.then(beat);
  }, beatEveryMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await beating;
      await deleteWorker(db, worker.id).catch(logFailure);
    },
  };
}

/** Logs each change once. */
function createClockWatch(log: ProvidersContext['log'], worker: string) {
  let isTrusted = true;
  return (skewMs: number): void => {
    if (isClockTrusted(skewMs) === isTrusted) return;
    isTrusted = !isTrusted;
    const line = { worker, skew_ms: skewMs };
    if (isTrusted) log.info(line, "the clock of this worker agrees with the database's again");
    else
      log.error(
        line,
        `the clock of this worker is ${describeClockSkew(skewMs)} the database's: it takes no job that ` +
          'removes data until the clocks agree',
      );
  };
}

/** Warns about providers that have videos, but no settings in this process. */
async function logStart(
  { db, log, registry }: ProvidersContext,
  worker: Pick<WorkerRow, 'id' | 'providers'>,
): Promise<void> {
  const unserved = [...registry.values()].filter(({ name }) => !worker.providers.includes(name));
  const line = { worker: worker.id, providers: worker.providers };
  log.info(line, 'worker started');
  const affected = await listProvidersWithVideos(
    db,
    unserved.map(({ name }) => name),
  );
  for (const { name, capabilities } of unserved.filter((provider) => affected.includes(provider.name)))
    log.warn(
      { worker: worker.id, provider: name, not_set: capabilities.missingSettings },
      'this worker has no settings for a provider that has videos; their jobs wait for another worker',
    );
}
