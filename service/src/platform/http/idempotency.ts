// Idempotency keys: a repeated request receives the stored response of the first, also after a crash
// (contract B4).
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { waitAtMost } from '../concurrency/in-flight.ts';
import { badRequest, conflict, ServiceError } from './errors.ts';
import { RENEW_REQUEST_EVERY_MS, REQUEST_LEASE_SECONDS, whileRenewing } from '../concurrency/lease.ts';
import type { Database, Queries } from '../postgres/database.ts';
import { deleteInBatches } from '../postgres/delete-in-batches.ts';
import { sql } from '../postgres/sql.ts';
import { uuidV7 } from '../values/uuid-v7.ts';

/** Keys are scoped by `caller`. `fingerprint` is a hash of the request. */
export type Claim = { readonly caller: string; readonly key: string; readonly fingerprint: string };
type IdempotentResult<T> = { readonly data: T; readonly isReplay: boolean };

/**
 * Runs `work` once for a key. Every attempt gets the same resource id, so that a retry after a crash finds
 * the created resource. A response that is not final is not stored: the next request runs again.
 */
export type RunOnce = <T>(
  claim: Claim,
  work: (resourceId: string) => Promise<T>,
  isFinal?: (data: T) => boolean,
) => Promise<IdempotentResult<T>>;

const KEY = /^[\x21-\x7e]{1,255}$/;

export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key))
    throw badRequest('Idempotency-Key must be 1 to 255 visible ASCII characters', {
      field: 'Idempotency-Key',
      limit: 255,
    });
  return key;
}

/** A hanging database must not delay the error response again. An unreleased claim expires. */
const RELEASE_MS = 500;

type IdempotencyOptions = {
  readonly renewEveryMs?: number;
  /** The clock of the ids of resources. */
  readonly now?: () => Date;
};

export const createIdempotency =
  (
    db: Database,
    { renewEveryMs = RENEW_REQUEST_EVERY_MS, now = () => new Date() }: IdempotencyOptions = {},
  ): RunOnce =>
  async (claim, work, isFinal = () => true) => {
    const by = randomUUID();
    try {
      const row = await claimOrFind(db, claim, { by, resourceId: uuidV7(now().getTime()) });
      if (row.fingerprint !== claim.fingerprint)
        throw conflict('This Idempotency-Key was used for a different request. Use a new key.', {
          field: 'Idempotency-Key',
          reason: 'idempotency_key_reused',
        });
      if (row.answer !== null) return { data: row.answer as never, isReplay: true };
      if (row.leased_by !== by)
        throw new ServiceError(
          'CONFLICT',
          'A request with this Idempotency-Key is in progress. Retry later.',
          {
            details: { field: 'Idempotency-Key', reason: 'request_in_progress' },
            retryAfterSeconds: 1,
          },
        );
      const lease = { everyMs: renewEveryMs, renew: () => renew(db, claim, by) };
      const data = await whileRenewing(lease, () => work(row.resource_id));
      await (isFinal(data) ? storeResponse(db, claim, data) : release(db, claim, by));
      return { data, isReplay: false };
    } catch (error) {
      // Also needed when the claim was stored but the database response was lost.
      await waitAtMost(RELEASE_MS, release(db, claim, by));
      throw error;
    }
  };

/** Returns the row of a key: new, taken over from a crashed process, or claimed by another request. */
async function claimOrFind(db: Database, claim: Claim, wanted: WantedKey) {
  const row = await claimKey(db, claim, wanted);
  if (row) return row;
  await deleteExpiredKey(db, claim);
  const again = await claimKey(db, claim, wanted);
  if (!again) throw new Error('The idempotency key could not be claimed');
  return again;
}

const CLAIMED = { fingerprint: 'text', resource_id: 'uuid', answer: 'jsonb?', leased_by: 'uuid?' } as const;

type WantedKey = { readonly by: string; readonly resourceId: string };

/** Returns no row when the existing key is older than a day. */
const claimKey = (db: Queries, { caller, key, fingerprint }: Claim, { by, resourceId }: WantedKey) =>
  db.one(sql('claim key', CLAIMED)`
    insert into idempotency_keys as stored (caller, key, fingerprint, resource_id, leased_by, leased_until)
    values (${caller}, ${key}, ${fingerprint}, ${resourceId}, ${by},
            now() + make_interval(secs => ${REQUEST_LEASE_SECONDS}))
    on conflict (caller, key) do update set
      leased_by = case when stored.leased_until is null or stored.leased_until < now()
                then excluded.leased_by else stored.leased_by end,
      leased_until = case when stored.leased_until is null or stored.leased_until < now()
                   then excluded.leased_until else stored.leased_until end
      where stored.created_at > now() - interval '1 day'
    returning fingerprint, resource_id, answer, leased_by`);

/** Extends the claim while its request runs. */
const renew = (db: Queries, { caller, key }: Claim, by: string) =>
  db.one(
    sql('renew key')`
    update idempotency_keys set leased_until = now() + make_interval(secs => ${REQUEST_LEASE_SECONDS})
     where caller = ${caller} and key = ${key} and leased_by = ${by}`,
  );

/** The first response is final: a process that lost its claim may finish later with another one. */
const storeResponse = (db: Queries, { caller, key }: Claim, data: unknown) =>
  db.one(sql('store response')`
    update idempotency_keys set answer = ${JSON.stringify(data)}, leased_by = null, leased_until = null
     where caller = ${caller} and key = ${key} and answer is null`);

const release = (db: Queries, { caller, key }: Claim, by: string) =>
  db.one(sql('release key')`
    update idempotency_keys set leased_by = null, leased_until = null
     where caller = ${caller} and key = ${key} and leased_by = ${by}`);

const deleteExpiredKey = (db: Queries, { caller, key }: Claim) =>
  db.one(sql('delete expired key')`
    delete from idempotency_keys
     where caller = ${caller} and key = ${key} and created_at <= now() - interval '1 day'`);

/** Keys expire after 24 hours. Returns the number of deleted keys. */
export const deleteExpiredKeys = (db: Queries, batch?: number): Promise<number> =>
  deleteInBatches((limit) => deleteExpiredBatch(db, limit), batch);

const deleteExpiredBatch = async (db: Queries, limit: number): Promise<number> => {
  const deleted = await db.one(sql('delete expired keys', { count: 'int8' })`
    with deleted as (
      delete from idempotency_keys
       where ctid = any(array(
         select ctid from idempotency_keys
          where created_at <= now() - interval '1 day' order by created_at limit ${limit}))
      returning 1)
    select count(*) from deleted`);
  return deleted?.count ?? 0;
};
