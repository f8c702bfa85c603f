// Gives the first answer again to a request that is sent again with the same Idempotency-Key, also across processes and a crash (contract B4).
import { randomUUID } from 'node:crypto';
import { waitAtMost } from './concurrency/wait-at-most.ts';
import { conflict } from './errors.ts';
import { RENEW_EVERY_MS, whileRenewing } from './concurrency/lease.ts';
import type { Database, Queries } from './postgres/database.ts';
import { sql } from './postgres/sql.ts';
import { uuidV7 } from './uuid-v7.ts';

/** `caller` keeps the keys of different callers apart; `fingerprint` is of everything that makes a request the same. */
export type Claim = { readonly caller: string; readonly key: string; readonly fingerprint: string };
export type IdempotentResult<T> = { readonly data: T; readonly isReplay: boolean };

/** Runs `work` once for a key. It is given the id of what it makes, the same at each try, so that a try after a crash finds what the first one made. */
export type RunOnce = <T>(claim: Claim, work: (madeId: string) => Promise<T>) => Promise<IdempotentResult<T>>;

/** A database that hangs must not delay the error response again; an unreleased claim expires after 60 s. */
const RELEASE_MS = 500;

export const createIdempotency =
  (db: Database, { renewEveryMs = RENEW_EVERY_MS } = {}): RunOnce =>
  async (claim, work) => {
    const by = randomUUID();
    try {
      const row = await claimed(db, claim, by);
      if (row.fingerprint !== claim.fingerprint)
        throw conflict('This Idempotency-Key was used for another request', {
          field: 'Idempotency-Key',
          reason: 'other_request',
        });
      if (row.answer !== null) return { data: row.answer as never, isReplay: true };
      if (row.busy_by !== by)
        throw conflict('A request with this Idempotency-Key is under way', {
          field: 'Idempotency-Key',
          reason: 'in_progress',
        });
      const lease = { everyMs: renewEveryMs, renew: () => renew(db, claim, by) };
      const data = await whileRenewing(lease, () => work(row.made_id));
      await keepAnswer(db, claim, data);
      return { data, isReplay: false };
    } catch (error) {
      // Also a claim that was made, and the answer lost.
      await waitAtMost(RELEASE_MS, release(db, claim, by));
      throw error;
    }
  };

/** The row of a key: new, taken over from a try that died, or somebody else's. */
async function claimed(db: Database, claim: Claim, by: string) {
  const row = await claimKey(db, claim, { by, madeId: uuidV7() });
  if (row) return row;
  await deleteExpiredKeys(db);
  const again = await claimKey(db, claim, { by, madeId: uuidV7() });
  if (!again) throw new Error('an idempotency key could not be claimed');
  return again;
}

const CLAIMED = { fingerprint: 'text', made_id: 'uuid', answer: 'jsonb?', busy_by: 'uuid?' } as const;

/** Nothing where the row is older than a day. */
const claimKey = (
  db: Queries,
  { caller, key, fingerprint }: Claim,
  { by, madeId }: { by: string; madeId: string },
) =>
  db.one(sql('claim key', CLAIMED)`
    insert into idempotency_keys as kept (caller, key, fingerprint, made_id, busy_by, busy_until)
    values (${caller}, ${key}, ${fingerprint}, ${madeId}, ${by}, now() + interval '1 minute')
    on conflict (caller, key) do update set
      busy_by = case when kept.busy_until is null or kept.busy_until < now() then excluded.busy_by else kept.busy_by end,
      busy_until = case when kept.busy_until is null or kept.busy_until < now() then excluded.busy_until else kept.busy_until end
      where kept.created_at > now() - interval '1 day'
    returning fingerprint, made_id, answer, busy_by`);

/** Keeps the claim while its request runs. */
const renew = (db: Queries, { caller, key }: Claim, by: string) =>
  db.one(
    sql('renew key')`
    update idempotency_keys set busy_until = now() + interval '1 minute' where caller = ${caller} and key = ${key} and busy_by = ${by}`,
  );

/** The first answer stays: a process that lost its claim may come later with another. */
const keepAnswer = (db: Queries, { caller, key }: Claim, data: unknown) =>
  db.one(sql('keep answer')`
    update idempotency_keys set answer = ${JSON.stringify(data)}, busy_by = null, busy_until = null where caller = ${caller} and key = ${key} and answer is null`);

const release = (db: Queries, { caller, key }: Claim, by: string) =>
  db.one(
    sql(
      'release key',
    )`update idempotency_keys set busy_by = null, busy_until = null where caller = ${caller} and key = ${key} and busy_by = ${by}`,
  );

/** Keys are kept for a day. */
export const deleteExpiredKeys = (db: Queries) =>
  db.one(sql('forget keys')`delete from idempotency_keys where created_at <= now() - interval '1 day'`);
