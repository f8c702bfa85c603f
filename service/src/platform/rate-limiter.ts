// Token buckets in PostgreSQL, shared by all processes: a bucket holds `limit` tokens and refills evenly within `windowSeconds`.
import { createBatcher } from './concurrency/batcher.ts';
import type { Queries } from './postgres/database.ts';
import { sql } from './postgres/sql.ts';
import type { RateLimit } from './rate-setting.ts';

/** `name` is shown in headers and keeps the buckets of different policies apart. */
export type RatePolicy = RateLimit & { readonly name: string };

export type RateResult = {
  readonly isAllowed: boolean;
  readonly remaining: number;
  /** Until the bucket is full again. */
  readonly resetSeconds: number;
  /** Until there is a token; 0 where there is one. */
  readonly retryAfterSeconds: number;
};

/** Undefined: the database did not answer in time, so that nothing is known. */
export type TakeToken = (key: string) => Promise<RateResult | undefined>;

export type RateLimiterNeeds = {
  readonly db: Queries;
  readonly policy: RatePolicy;
  readonly onError: (error: unknown) => void;
  readonly nowMs?: () => number;
};

const LIMITS = { atOnce: 1, most: 200 };
/** A database that hangs must not add its timeout to every request: after one failure requests pass unlimited for a while. */
const ANSWER_WITHIN_MS = 2000;
const PAUSE_MS = 1000;
/** Denied keys that a process remembers; a flood of more is asked about again. */
const MAX_DENIED = 10_000;

export function openRateLimiter(needs: RateLimiterNeeds): TakeToken {
  const { db, policy, onError, nowMs = Date.now } = needs;
  const take = createBatcher((keys: readonly string[]) => takeTokens(db, policy, keys), LIMITS);
  /** Until when a key has no token whatever other processes do: a flood of refused requests costs no statement. */
  const deniedUntil = new Map<string, number>();
  let pausedUntil = 0;
  return async (key) => {
    const known = deniedUntil.get(key);
    if (known !== undefined && known > nowMs()) return denied(policy, known - nowMs());
    if (nowMs() < pausedUntil) return undefined;
    const result = await within(ANSWER_WITHIN_MS, take(key)).catch((error: unknown) => {
      // Of many that waited for the same answer, one is enough to tell.
      if (nowMs() >= pausedUntil) onError(error);
      pausedUntil = nowMs() + PAUSE_MS;
      return undefined;
    });
    if (result && !result.isAllowed) {
      if (deniedUntil.size >= MAX_DENIED) deniedUntil.clear();
      deniedUntil.set(key, nowMs() + result.waitMs);
    }
    return result && toResult(policy, result);
  };
}

type Taken = { readonly isAllowed: boolean; readonly fullInMs: number; readonly waitMs: number };

const tokenMs = ({ limit, windowSeconds }: RatePolicy): number => (windowSeconds * 1000) / limit;

function toResult(policy: RatePolicy, { isAllowed, fullInMs, waitMs }: Taken): RateResult {
  const missing = Math.ceil(Math.max(0, fullInMs) / tokenMs(policy));
  return {
    isAllowed,
    remaining: isAllowed ? Math.max(0, policy.limit - missing) : 0,
    resetSeconds: Math.max(0, Math.ceil(fullInMs / 1000)),
    retryAfterSeconds: isAllowed ? 0 : Math.max(1, Math.ceil(waitMs / 1000)),
  };
}

const denied = (policy: RatePolicy, waitMs: number): RateResult =>
  toResult(policy, {
    isAllowed: false,
    waitMs,
    fullInMs: waitMs + policy.windowSeconds * 1000 - tokenMs(policy),
  });

/** As many tokens for each key as it was asked for, and as there are. */
async function takeTokens(db: Queries, policy: RatePolicy, keys: readonly string[]): Promise<Taken[]> {
  const asked = new Map<string, number>();
  for (const key of keys) asked.set(key, (asked.get(key) ?? 0) + 1);
  const rows = await takeStatement(db, policy, asked);
  const left = new Map(rows.map((row) => [row.key, { ...row }]));
  return keys.map((key) => {
    const bucket = left.get(`${policy.name} ${key}`);
    if (!bucket) throw new Error('a token bucket has no row');
    const fullInMs = bucket.full_in_ms;
    const waitMs = Math.max(1, fullInMs + tokenMs(policy) - policy.windowSeconds * 1000);
    bucket.granted -= 1;
    return { isAllowed: bucket.granted >= 0, fullInMs, waitMs };
  });
}

/** The key of every bucket in one order, so that two processes never wait for each other. */
function takeStatement(db: Queries, policy: RatePolicy, asked: ReadonlyMap<string, number>) {
  const keys = [...asked.keys()].map((key) => `${policy.name} ${key}`);
  const windowMs = policy.windowSeconds * 1000;
  const { limit } = policy;
  return db.all(sql('take tokens', { key: 'text', granted: 'int4', full_in_ms: 'int8' })`
    insert into rate_limits as bucket (key, full_at, granted)
    select key, clock_timestamp() + least(asked, ${limit}::int) * (${windowMs}::float8 / ${limit}::int) * interval '1 ms', least(asked, ${limit}::int)
      from unnest(${keys}::text[], ${[...asked.values()]}::int[]) as request (key, asked) order by key
    on conflict (key) do update set (full_at, granted) = (
      select greatest(bucket.full_at, now_at) + tokens * (${windowMs}::float8 / ${limit}::int) * interval '1 ms', tokens
        from (select now_at, least(excluded.granted, greatest(0, floor(
                (${windowMs}::float8 - extract(epoch from greatest(bucket.full_at, now_at) - now_at)::float8 * 1000) / (${windowMs}::float8 / ${limit}::int) + 0.001)))::int as tokens
                from (select clock_timestamp() as now_at) as clock) as free)
    returning key, granted, (extract(epoch from full_at - clock_timestamp()) * 1000)::int8 as full_in_ms`);
}

/** Full buckets say nothing: a missing row is a full bucket. */
export const forgetFullBuckets = (db: Queries) =>
  db.one(sql('forget full buckets')`delete from rate_limits where full_at < now()`);

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`no answer within ${ms} ms`));
    // In a process that was busy for as long, the answer may have come and not been read yet.
    const timer = setTimeout(() => setImmediate(fail), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
