// SQL queries that count what each owner stores, and rank the owners by it.
import type { Queries } from '../platform/postgres/database.ts';
import { type Clause, clause, composeClauses, sql } from '../platform/postgres/sql.ts';

const COUNTED = { assets: 'int8', bytes: 'int8', pending: 'int8', last_id: 'uuid?' } as const;

/** The next owners in the order of their ids, and the newest `max` assets of each. */
export const countNextOwners = (
  db: Queries,
  { after, owners, max }: { readonly after: string; readonly owners: number; readonly max: number },
) =>
  db.all(sql('count next owners', { owner_user_id: 'text', ...COUNTED })`
    with recursive owners (id, place) as (
      select next_owner(${after}), 1
       union all
      select next_owner(id), place + 1 from owners where id is not null and place < ${owners})
    select owners.id as owner_user_id, counted.assets, counted.bytes, counted.pending, counted.last_id
      from owners cross join lateral count_owner_assets(owners.id, null, ${max}) as counted
     where owners.id is not null order by place`);

/** The next `max` assets of an owner, older than `afterId`. */
export const countMoreAssets = (
  db: Queries,
  { owner, afterId, max }: { readonly owner: string; readonly afterId: string; readonly max: number },
) =>
  db.one(sql('count more assets', COUNTED)`
    select assets, bytes, pending, last_id from count_owner_assets(${owner}, ${afterId}, ${max})`);

export type OwnerTotal = {
  readonly owner_user_id: string;
  readonly assets: number;
  readonly bytes: number;
  readonly pending: number;
};

/** Adds the bytes of open uploads. Leaves out an owner that was erased meanwhile. */
export const recordOwnerTotals = (db: Queries, totals: readonly OwnerTotal[]) =>
  db.all(sql('record owner totals')`
    insert into owner_totals (owner_user_id, assets, bytes, pending)
    select owner_user_id, assets, bytes + recount_open_uploads(owner_user_id), pending
      from jsonb_to_recordset(${JSON.stringify(totals)}::jsonb)
           as counted (owner_user_id text, assets bigint, bytes bigint, pending bigint)
     where exists (select from assets where assets.owner_user_id = counted.owner_user_id
                      and (deleted_at is null or purge_at is not null))
    on conflict (owner_user_id) do update
       set assets = excluded.assets, bytes = excluded.bytes, pending = excluded.pending, counted_at = now()`);

/** The start of a count by the database's clock; no row while the last one was too short a time ago. */
export const beginOwnerCount = (db: Queries, maxShare: number) =>
  db.one(sql('begin owner count', { started_at: 'timestamptz' })`
    select now() as started_at
     where not exists (select from owner_counts
                        where ended_at + (ended_at - started_at) / ${maxShare}::float8 > now())`);

/** Deletes owners that have nothing any more. */
export const endOwnerCount = (db: Queries, startedAt: Date) =>
  db.one(sql('end owner count')`
    with removed as (delete from owner_totals where counted_at < ${startedAt})
    insert into owner_counts (started_at, ended_at) values (${startedAt}, now())
    on conflict (is_only) do update set started_at = excluded.started_at, ended_at = excluded.ended_at`);

const RANKED = {
  owner_user_id: 'text',
  assets: 'int8',
  bytes: 'int8',
  pending: 'int8',
  max_assets: 'int8?',
  max_bytes: 'int8?',
  max_pending: 'int8?',
  counted_at: 'timestamptz',
} as const;

type OwnerRanking = {
  readonly sort: 'bytes' | 'assets';
  /** A LIKE pattern. */
  readonly pattern: string | undefined;
  readonly after: { readonly amount: number; readonly owner: string } | undefined;
  readonly limit: number;
};

/** One walk along the index of the sort, or a search by trigrams. */
export const listRankedOwners = (db: Queries, { sort, pattern, after, limit }: OwnerRanking) =>
  db.all(
    composeClauses('list owners', RANKED, [
      clause('')`select owner_user_id, totals.assets, totals.bytes, totals.pending,
             owner_limit(coalesce(overrides, '{}'), 'assets') as max_assets,
             owner_limit(coalesce(overrides, '{}'), 'bytes') as max_bytes,
             owner_limit(coalesce(overrides, '{}'), 'pending') as max_pending, counted_at
        from owner_totals as totals left join owner_usage using (owner_user_id) where true`,
      ...(pattern === undefined ? [] : [clause('search')`and lower(owner_user_id) like lower(${pattern})`]),
      ...(after === undefined ? [] : [startAfter(sort, after)]),
      sort === 'bytes'
        ? clause('by bytes')`order by totals.bytes desc, owner_user_id limit ${limit}`
        : clause('by assets')`order by totals.assets desc, owner_user_id limit ${limit}`,
    ]),
  );

const startAfter = (
  sort: OwnerRanking['sort'],
  { amount, owner }: NonNullable<OwnerRanking['after']>,
): Clause =>
  sort === 'bytes'
    ? clause('less')`and totals.bytes <= ${amount} and (totals.bytes < ${amount} or owner_user_id > ${owner})`
    : clause('fewer')`and totals.assets <= ${amount}
        and (totals.assets < ${amount} or owner_user_id > ${owner})`;
