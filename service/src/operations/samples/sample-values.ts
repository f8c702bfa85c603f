// What a process samples in a minute, how samples are joined, and the series that they become: pure.
import type { SampleName } from '@mediary/contract/schemas/admin/samples';

/** Upper bound of a bucket → how many values it got. */
type Buckets = Readonly<Record<string, number>>;

/** Amounts of a minute are deltas, so that those of several processes and minutes can be added. */
export type ProcessSample = {
  readonly processes: number;
  readonly requests: number;
  readonly errors_4xx: number;
  readonly errors_5xx: number;
  readonly jobs: number;
  readonly job_failures: number;
  readonly encodes_running: number;
  readonly event_loop_delay_s: number;
  readonly scratch_free_bytes: number | null;
  readonly store_free_bytes: number | null;
  readonly latency: Buckets;
  readonly speed: Buckets;
  readonly playable: Buckets;
};

/** What one process reads of the database in a minute. */
export type StateSample = {
  readonly [N in
    | 'queue_waiting'
    | 'queue_delayed'
    | 'queue_active'
    | 'queue_failed'
    | 'queue_oldest_s'
    | 'bytes_stored'
    | 'assets_stored']: number | null;
};

/** Of two processes in the same minute. */
export const joinProcesses = (a: ProcessSample, b: ProcessSample): ProcessSample => ({
  ...addCounts(a, b),
  processes: a.processes + b.processes,
  encodes_running: a.encodes_running + b.encodes_running,
});

/** Of two minutes: gauges are the largest, and free space the least. */
const joinMinutes = (a: ProcessSample, b: ProcessSample): ProcessSample => ({
  ...addCounts(a, b),
  processes: Math.max(a.processes, b.processes),
  encodes_running: Math.max(a.encodes_running, b.encodes_running),
});

const addCounts = (a: ProcessSample, b: ProcessSample) => ({
  requests: a.requests + b.requests,
  errors_4xx: a.errors_4xx + b.errors_4xx,
  errors_5xx: a.errors_5xx + b.errors_5xx,
  jobs: a.jobs + b.jobs,
  job_failures: a.job_failures + b.job_failures,
  event_loop_delay_s: Math.max(a.event_loop_delay_s, b.event_loop_delay_s),
  scratch_free_bytes: least(a.scratch_free_bytes, b.scratch_free_bytes),
  store_free_bytes: least(a.store_free_bytes, b.store_free_bytes),
  latency: addBuckets(a.latency, b.latency),
  speed: addBuckets(a.speed, b.speed),
  playable: addBuckets(a.playable, b.playable),
});

const least = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b);

function addBuckets(a: Buckets, b: Buckets): Buckets {
  const sum: Record<string, number> = { ...a };
  for (const [bound, count] of Object.entries(b)) sum[bound] = (sum[bound] ?? 0) + count;
  return sum;
}

/** The upper bound of the bucket that holds the quantile; null without values, or beyond all bounds. */
export function findQuantile(buckets: Buckets, quantile: number): number | null {
  const sorted = Object.entries(buckets)
    .map(([bound, count]) => [bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count] as const)
    .sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bound, count] of sorted) {
    seen += count;
    if (count > 0 && seen >= total * quantile) return Number.isFinite(bound) ? bound : null;
  }
  return null;
}

/** The samples of a step, oldest first. */
type SampleStep = {
  readonly processes: readonly ProcessSample[];
  readonly states: readonly Partial<StateSample>[];
};

const MINUTE_S = 60;

export function toSeriesValues({ processes, states }: SampleStep): Record<SampleName, number | null> {
  const [first, ...more] = processes;
  const joined = first && more.reduce(joinMinutes, first);
  const state: Partial<StateSample> = states.at(-1) ?? {};
  const perSecond = (count: number | undefined) =>
    count === undefined ? null : round(count / (processes.length * MINUTE_S));
  return {
    processes: joined?.processes ?? null,
    requests_per_s: perSecond(joined?.requests),
    errors_4xx_per_s: perSecond(joined?.errors_4xx),
    errors_5xx_per_s: perSecond(joined?.errors_5xx),
    request_p50_s: findQuantile(joined?.latency ?? {}, 0.5),
    request_p95_s: findQuantile(joined?.latency ?? {}, 0.95),
    jobs_per_s: perSecond(joined?.jobs),
    job_failures_per_s: perSecond(joined?.job_failures),
    encodes_running: joined?.encodes_running ?? null,
    encode_speed_p50: findQuantile(joined?.speed ?? {}, 0.5),
    time_to_playable_p50_s: findQuantile(joined?.playable ?? {}, 0.5),
    time_to_playable_p95_s: findQuantile(joined?.playable ?? {}, 0.95),
    event_loop_delay_s: joined ? round(joined.event_loop_delay_s) : null,
    scratch_free_bytes: joined?.scratch_free_bytes ?? null,
    store_free_bytes: joined?.store_free_bytes ?? null,
    queue_waiting: state.queue_waiting ?? null,
    queue_delayed: state.queue_delayed ?? null,
    queue_active: state.queue_active ?? null,
    queue_failed: state.queue_failed ?? null,
    queue_oldest_s: state.queue_oldest_s ?? null,
    bytes_stored: state.bytes_stored ?? null,
    assets_stored: state.assets_stored ?? null,
  };
}

const round = (value: number): number => Math.round(value * 10_000) / 10_000;
