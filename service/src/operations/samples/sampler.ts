// Records once a minute what this process counted and measured; one of the processes adds the state of the
// database, and joins the samples of all.
import { freeBytes } from '../../platform/disk/free-space.ts';
import { type Metrics, watchEventLoop } from '../../platform/observability/metrics.ts';
import type { OperationsContext } from '../context.ts';
import { listQueueStates } from '../metrics/metrics.sql.ts';
import { joinProcesses, type ProcessSample, type StateSample } from './sample-values.ts';
import {
  fillSample,
  insertJoinedSample,
  insertSample,
  listUnjoinedSamples,
  sumOwnerTotals,
} from './samples.sql.ts';

const MINUTE_MS = 60_000;
/** After the start of a minute, so that a clock that is a little behind does not sample the one before. */
const MARGIN_MS = 5000;

const ENCODES = /^encode-(?!divided)/;
const PROBES = ['getHealth', 'getReadiness', 'getMetrics'];
const STREAMS = ['streamEvents', 'streamAssetEvents', 'streamDiagnostics'];

/** Returns what stops it. A sample that cannot be recorded is left out. */
export function startSampler(ctx: OperationsContext): { stop(): Promise<void> } {
  if (ctx.settings.sampleRetentionHours === 0) return { stop: async () => {} };
  const record = openRecorder(ctx);
  let recording: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const plan = () => {
    timer = setTimeout(
      () => {
        recording = record.run().catch((err) => ctx.log.debug({ err }, 'a sample cannot be recorded'));
        plan();
      },
      MINUTE_MS - (Date.now() % MINUTE_MS) + MARGIN_MS,
    ).unref();
  };
  plan();
  return {
    stop: async () => {
      clearTimeout(timer);
      record.close();
      await recording;
    },
  };
}

function openRecorder(ctx: OperationsContext) {
  const { db, machine, service } = ctx;
  const delays = watchEventLoop();
  let before: Totals | undefined;
  return {
    close: delays.close,
    run: async () => {
      const totals = await readTotals(service.metrics);
      const sample = { ...subtract(totals, before), ...(await readGauges(ctx)) };
      const event_loop_delay_s = delays.readSeconds();
      // A clock that stepped back: the next sample covers this one.
      if (!(await insertSample(db, machine.host, { ...sample, event_loop_delay_s }))) return;
      before = totals;
      delays.reset();
      await recordState(ctx);
    },
  };
}

async function readGauges({ jobs, machine, settings }: OperationsContext) {
  return {
    processes: 1,
    encodes_running: jobs.control.listRunning().filter(({ queue }) => ENCODES.test(queue)).length,
    scratch_free_bytes: await freeBytes(machine.scratchRoot).catch(() => null),
    store_free_bytes: settings.s3 ? null : await freeBytes(machine.storeFolder).catch(() => null),
  };
}

/** The process whose row is the first of the minute. */
async function recordState({ db }: OperationsContext): Promise<void> {
  const claimed = await insertSample(db, '', {});
  if (!claimed) return;
  const [queues, totals] = await Promise.all([listQueueStates(db), sumOwnerTotals(db)]);
  const sum = (of: (queue: (typeof queues)[number]) => number) =>
    queues.reduce((total, queue) => total + of(queue), 0);
  const state: StateSample = {
    queue_waiting: sum(({ ready }) => ready),
    queue_delayed: sum(({ deferred }) => deferred),
    queue_active: sum(({ active }) => active),
    queue_failed: sum(({ failed }) => failed),
    queue_oldest_s: Math.max(0, ...queues.map(({ seconds }) => seconds ?? 0)),
    bytes_stored: totals?.bytes ?? null,
    assets_stored: totals?.assets ?? null,
  };
  await fillSample(db, claimed.at, state);
  await joinSamples(db);
}

/** One row for each minute, so that the series of all processes costs as much as that of one. */
async function joinSamples(db: OperationsContext['db']): Promise<void> {
  const minutes = new Map<number, ProcessSample>();
  for (const { at, values } of await listUnjoinedSamples(db)) {
    const known = minutes.get(at.getTime());
    const sample = values as ProcessSample;
    minutes.set(at.getTime(), known ? joinProcesses(known, sample) : sample);
  }
  for (const [at, sample] of minutes) await insertJoinedSample(db, new Date(at), sample);
}

type Totals = Omit<
  ProcessSample,
  'processes' | 'encodes_running' | 'event_loop_delay_s' | 'scratch_free_bytes' | 'store_free_bytes'
>;
type Reading = Awaited<ReturnType<Metrics['read']>>;

/** Since the start of the process. */
async function readTotals(metrics: Metrics): Promise<Totals> {
  const [requests, durations, runs, speeds, playable] = await Promise.all([
    metrics.read('mediary_http_requests_total'),
    metrics.read('mediary_http_request_duration_seconds'),
    metrics.read('mediary_job_runs_total'),
    metrics.read('mediary_encode_speed_ratio'),
    metrics.read('mediary_asset_time_to_playable_seconds'),
  ]);
  const ofCallers = requests.filter(({ labels }) => !PROBES.includes(String(labels['operation'])));
  const sumOf = (values: Reading, label: string, wanted: string) =>
    sumValues(values.filter(({ labels }) => labels[label] === wanted));
  const timed = ({ labels }: Reading[number]) =>
    ![...PROBES, ...STREAMS].includes(String(labels['operation']));
  return {
    requests: sumValues(ofCallers),
    errors_4xx: sumOf(ofCallers, 'status', '4xx'),
    errors_5xx: sumOf(ofCallers, 'status', '5xx'),
    jobs: sumOf(runs, 'result', 'succeeded'),
    job_failures: sumOf(runs, 'result', 'failed'),
    latency: toBuckets(durations.filter(timed)),
    speed: toBuckets(speeds),
    playable: toBuckets(playable),
  };
}

const sumValues = (values: Reading): number => values.reduce((sum, { value }) => sum + value, 0);

/** Buckets of Prometheus include those below them. */
function toBuckets(values: Reading): Record<string, number> {
  const cumulative = new Map<string, number>();
  for (const { labels, value } of values) {
    const bound = labels['le'];
    if (bound !== undefined) cumulative.set(String(bound), (cumulative.get(String(bound)) ?? 0) + value);
  }
  let below = 0;
  const buckets: Record<string, number> = {};
  for (const [bound, count] of [...cumulative].sort(([a], [b]) => toNumber(a) - toNumber(b))) {
    buckets[bound] = count - below;
    below = count;
  }
  return buckets;
}

const toNumber = (bound: string): number => (bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound));

/** What was counted since `before`, without empty buckets. */
function subtract(totals: Totals, before: Totals | undefined): Totals {
  const less = (name: 'requests' | 'errors_4xx' | 'errors_5xx' | 'jobs' | 'job_failures') =>
    totals[name] - (before?.[name] ?? 0);
  const lessBuckets = (name: 'latency' | 'speed' | 'playable') =>
    Object.fromEntries(
      Object.entries(totals[name])
        .map(([bound, count]) => [bound, count - (before?.[name][bound] ?? 0)] as const)
        .filter(([, count]) => count > 0),
    );
  return {
    requests: less('requests'),
    errors_4xx: less('errors_4xx'),
    errors_5xx: less('errors_5xx'),
    jobs: less('jobs'),
    job_failures: less('job_failures'),
    latency: lessBuckets('latency'),
    speed: lessBuckets('speed'),
    playable: lessBuckets('playable'),
  };
}
