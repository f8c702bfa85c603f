// The processes of the service: each renews its own row, so that every process sees which ones are alive,
// what they run, and what they know of the providers.
import type { ProviderName } from '../assets/asset.ts';
import type { JobControl } from '../platform/jobs/job-control.ts';
import { describeClockSkew, isClockTrusted, measureClockSkew } from '../platform/postgres/database-clock.ts';
import { type Circuit, isOpen } from './circuit.ts';
import type { ProvidersContext } from './context.ts';
import {
  countProcesses,
  deleteStaleWorkers as deleteStaleRows,
  hasLiveWorkerFor,
  listCircuitRows,
  type LiveWorkerRow,
  listLiveWorkers,
  listProcessRows,
  listProvidersWithVideos,
  type ProcessRow,
  recordWorker,
  recordWorkerStop,
  requestDrain,
  type WorkerRecord,
} from './workers.sql.ts';

/** Facts that a process reports about itself. */
export type WorkerProcess = Pick<WorkerRecord, 'id' | 'host' | 'version' | 'protections'> & {
  readonly roles: readonly ('api' | 'worker')[];
  readonly videoEncoder: string;
  /** How many encodes of a kind this process runs at once. */
  readonly encodeSlots: number;
  readonly freeScratchBytes: () => Promise<number>;
  readonly jobs: Pick<JobControl, 'listRunning' | 'watchLongRuns' | 'isDraining' | 'drain'>;
  /** Default: 10 s. */
  readonly beatEveryMs?: number | undefined;
};

/** `stop` records that the process has stopped by itself. */
type Heartbeat = { stop(): Promise<void> };

const BEAT_MS = 10_000;
/** The clock is compared at the first of so many beats. */
const BEATS_PER_CLOCK = 6;

/** A day after their last heartbeat. */
export const deleteStaleWorkers = ({ db }: ProvidersContext): Promise<unknown> => deleteStaleRows(db);

/** The live processes that run jobs. */
export const listWorkers = ({ db }: ProvidersContext): Promise<readonly LiveWorkerRow[]> =>
  listLiveWorkers(db);

/** All processes of the last day, newest first. */
export const listProcesses = (
  { db }: ProvidersContext,
  page: Parameters<typeof listProcessRows>[1],
): Promise<readonly ProcessRow[]> => listProcessRows(db, page);

/** The circuit breaker of one process for one provider. */
export type ProcessCircuit = {
  readonly host: string;
  readonly provider: ProviderName;
  readonly circuit: Circuit;
};

/** Of all live processes: this one as it is, the others by their latest heartbeat. */
export async function listCircuits(
  { db, circuits }: ProvidersContext,
  ownHost: string,
): Promise<ProcessCircuit[]> {
  const rows = await listCircuitRows(db);
  const others = rows.filter(({ host }) => host !== ownHost);
  return [{ host: ownHost, circuits: Object.fromEntries(circuits) }, ...others].flatMap((row) =>
    Object.entries(row.circuits as Readonly<Record<string, Circuit>>).map(([provider, circuit]) => ({
      host: row.host,
      provider,
      circuit,
    })),
  );
}

/** The processes with jobs of the last day, by state. */
export const countWorkers = ({ db }: ProvidersContext) => countProcesses(db);

/** The process sees it with its next heartbeat. False if no live worker has this id. */
export const drainWorker = async ({ db }: ProvidersContext, id: string): Promise<boolean> =>
  (await requestDrain(db, id)) !== undefined;

/** True when a live process has the settings of the provider's API. */
export const hasWorkerFor = ({ db }: ProvidersContext, name: ProviderName): Promise<boolean> =>
  hasLiveWorkerFor(db, name);

/** Hosted providers need an API; encoders work on the bytes in the store. */
export const listServedProviders = ({ registry }: ProvidersContext): ProviderName[] =>
  [...registry.values()].filter(({ kind, api }) => kind === 'encoder' || api).map(({ name }) => name);

/** Logs a beat that fails; the next one may succeed. */
export async function startHeartbeat(ctx: ProvidersContext, process: WorkerProcess): Promise<Heartbeat> {
  const { db, log } = ctx;
  const { beatEveryMs = BEAT_MS } = process;
  const worker = { id: process.id, providers: listServedProviders(ctx) };
  const isWorker = process.roles.includes('worker');
  const logFailure = (error: unknown) =>
    log.warn({ err: error, worker: worker.id }, 'cannot record the heartbeat of this worker');
  const latest = registerProcessGauges(ctx);
  const record = openRecorder(ctx, process, { worker, latest });
  const beat = () => record().catch(logFailure);
  let beating: Promise<unknown> = beat();
  await beating;
  if (isWorker) await logStart(ctx, worker).catch(logFailure);
  const beatAgain = () => {
    beating = beating.then(beat);
  };
  const timer = setInterval(beatAgain, beatEveryMs);
  timer.unref();
  // Short runs are not worth a statement.
  process.jobs.watchLongRuns(beatAgain);
  return {
    async stop() {
      clearInterval(timer);
      process.jobs.watchLongRuns(() => {});
      await beating;
      await recordWorkerStop(db, worker.id).catch(logFailure);
    },
  };
}

const CLOCK_SKEW = {
  name: 'mediary_clock_skew_seconds',
  help: "How far the clock of this process is ahead of the database's, at its latest heartbeat.",
  labels: [],
} as const;

const SCRATCH_FREE = {
  name: 'mediary_scratch_disk_free_bytes',
  help: 'Free space of the disk with the temporary files of this process, at its latest heartbeat.',
  labels: [],
} as const;

const OPEN_CIRCUITS = {
  name: 'mediary_provider_circuit_open',
  help: 'Whether this process makes no calls to a provider after repeated failures: 1 if so.',
  labels: ['provider'],
} as const;

/** By the latest heartbeat. Changed by each. */
type Measured = { skewMs?: number; freeBytes?: number | null };

function registerProcessGauges({ circuits, clocks, service: { metrics } }: ProvidersContext): Measured {
  const latest: Measured = {};
  const toSamples = (value: number | null | undefined) =>
    value === undefined || value === null ? [] : [{ labels: {}, value }];
  metrics.registerGauge(CLOCK_SKEW, () =>
    toSamples(latest.skewMs === undefined ? undefined : latest.skewMs / 1000),
  );
  metrics.registerGauge(SCRATCH_FREE, () => toSamples(latest.freeBytes));
  metrics.registerGauge(OPEN_CIRCUITS, () =>
    [...circuits].map(([provider, circuit]) => ({
      labels: { provider },
      value: isOpen(circuit, clocks.now().getTime()) ? 1 : 0,
    })),
  );
  return latest;
}

type WorkerIdentity = { readonly id: string; readonly providers: ProviderName[] };

/** Returns what records the state of this process, and drains it if an operator has asked for it. */
function openRecorder(
  { db, log, clocks, circuits }: ProvidersContext,
  { roles, host, version, videoEncoder, encodeSlots, protections, jobs, freeScratchBytes }: WorkerProcess,
  { worker, latest }: { readonly worker: WorkerIdentity; readonly latest: Measured },
): () => Promise<void> {
  const watchClock = roles.includes('worker') ? createClockWatch(log, worker.id) : () => {};
  let [beats, skewMs] = [0, 0];
  return async () => {
    if (beats % BEATS_PER_CLOCK === 0) skewMs = await measureClockSkew(clocks);
    beats += 1;
    watchClock(skewMs);
    const freeBytes = await freeScratchBytes().catch(() => null);
    Object.assign(latest, { skewMs, freeBytes });
    const recorded = await recordWorker(db, {
      ...worker,
      roles: [...roles],
      host,
      version,
      video_encoder: videoEncoder,
      protections,
      clock_skew_ms: skewMs,
      scratch_free_bytes: freeBytes,
      encode_slots: encodeSlots,
      running_jobs: jobs.listRunning().map(({ payload, ...job }) => ({ ...job, ...toAssetRef(payload) })),
      circuits: Object.fromEntries(circuits),
      is_draining: jobs.isDraining(),
    });
    if (!recorded?.is_draining || jobs.isDraining()) return;
    log.info({ worker: worker.id }, 'an operator drains this worker: it takes no further job');
    await jobs.drain();
  };
}

const toAssetRef = (payload: object) =>
  'assetId' in payload && typeof payload.assetId === 'string' ? { assetId: payload.assetId } : {};

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
async function logStart({ db, log, registry }: ProvidersContext, worker: WorkerIdentity): Promise<void> {
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
