// Token buckets in PostgreSQL, shared by all processes. A bucket holds `limit` tokens and refills in
// `windowSeconds`.
import { createBatcher } from '../concurrency/batcher.ts';
import type { Queries } from './database.ts';
import { sql } from './sql.ts';
import type { RateLimit } from '../settings/setting.ts';

/** `name` is shown in headers and keeps the buckets of different policies apart. */
export type RatePolicy = RateLimit & { readonly name: string };

export type RateResult = {
  readonly isAllowed: boolean;
  readonly remaining: number;
  /** Time until the bucket is full. */
  readonly resetSeconds: number;
  /** Time until the next token; 0 when the request is allowed. */
  readonly retryAfterSeconds: number;
};

/** Undefined: the database did not respond in time, so no limit is applied. */
export type TakeToken = (key: string) => Promise<RateResult | undefined>;

type RateLimiterOptions = {
  readonly db: Queries;
  readonly policy: RatePolicy;
  readonly onError: (error: unknown) => void;
  readonly nowMs?: () => number;
};

const BATCH_LIMITS = { concurrency: 1, maxItems: 200 };
/**
 * After one timeout, requests pass unlimited for PAUSE_MS: a hanging database must not delay every request.
 */
const QUERY_TIMEOUT_MS = 2000;
const PAUSE_MS = 1000;
/** Maximum number of cached denials; the cache is cleared when it is full. */
const MAX_DENIED = 10_000;

export function openRateLimiter(options: RateLimiterOptions): TakeToken {
  const { db, policy, onError, nowMs = Date.now } = options;
  const take = createBatcher((keys: readonly string[]) => takeTokens(db, policy, keys), BATCH_LIMITS);
  /** A denied key has no token before this time in any process, so denied requests need no query. */
  const deniedUntil = new Map<string, number>();
  let pausedUntil = 0;
  return async (key) => {
    const known = deniedUntil.get(key);
    if (known !== undefined && known > nowMs()) return denied(policy, known - nowMs());
    if (nowMs() < pausedUntil) return undefined;
    const result = await withTimeout(QUERY_TIMEOUT_MS, take(key)).catch((error: unknown) => {
      // Many requests wait for the same batch; one log line is sufficient.
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

type TokenResult = { readonly isAllowed: boolean; readonly fullInMs: number; readonly waitMs: number };

const tokenMs = ({ limit, windowSeconds }: RatePolicy): number => (windowSeconds * 1000) / limit;

function toResult(policy: RatePolicy, { isAllowed, fullInMs, waitMs }: TokenResult): RateResult {
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

/** Takes one token per entry of `keys`, as far as the buckets have tokens. */
async function takeTokens(db: Queries, policy: RatePolicy, keys: readonly string[]): Promise<TokenResult[]> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  const rows = await updateBuckets(db, policy, counts);
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

/** Locks the buckets in the order of their keys, so that two processes cannot deadlock. */
function updateBuckets(db: Queries, policy: RatePolicy, counts: ReadonlyMap<string, number>) {
  const keys = [...counts.keys()].map((key) => `${policy.name} ${key}`);
  const windowMs = policy.windowSeconds * 1000;
  const { limit } = policy;
  return db.all(sql('take tokens', { key: 'text', granted: 'int4', full_in_ms: 'int8' })`
    insert into rate_limits as bucket (key, full_at, granted)
    select key,
           clock_timestamp() + least(asked, ${limit}::int) * ${tokenMs(policy)}::float8 * interval '1 ms',
           least(asked, ${limit}::int)
      from unnest(${keys}::text[], ${[...counts.values()]}::int[]) as request (key, asked) order by key
    on conflict (key) do update set (full_at, granted) = (
      select greatest(bucket.full_at, now_at) + tokens * ${tokenMs(policy)}::float8 * interval '1 ms', tokens
        from (select now_at, least(excluded.granted, greatest(0, floor(
                (${windowMs}::float8
                 - extract(epoch from greatest(bucket.full_at, now_at) - now_at)::float8 * 1000)
                / ${tokenMs(policy)}::float8 + 0.001)))::int as tokens
                from (select clock_timestamp() as now_at) as clock) as free)
    returning key, granted, (extract(epoch from full_at - clock_timestamp()) * 1000)::int8 as full_in_ms`);
}

/** A missing row is equivalent to a full bucket. */
export const deleteFullBuckets = (db: Queries) =>
  db.one(sql('delete full buckets')`delete from rate_limits where full_at < now()`);

function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`the database did not respond within ${ms} ms`));
    // After a blocked event loop the response may have arrived but not been read yet.
    const timer = setTimeout(() => setImmediate(fail), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
