// What the sweep has to look at, and how fast providers were lately.
import type { Asset, ProviderName } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { assetRow } from '../tables.ts';

const ASSET = columns(assetRow);

/** Longest overdue first. */
export const findDueAssets = async (db: Queries, now: Date, limit: number) =>
  (await db.all(sql('due assets', assetRow)`
    select ${ASSET} from assets where reconcile_at <= ${now} and deleted_at is null order by reconcile_at limit ${limit}`)) as readonly unknown[] as readonly Asset[];

/** When an attempt's latest event of a type was. */
export const lastEventAt = async (db: Queries, assetId: string, type: string): Promise<Date | undefined> =>
  (
    await db.one(sql('last event', { created_at: 'timestamptz' })`
    select created_at from events where asset_id = ${assetId} and type = ${type} order by id desc limit 1`)
  )?.created_at;

/** Milliseconds of film that each provider made in a second: what nine of ten of its latest hundred videos reached. */
export const measureRecentSpeeds = async (
  db: Queries,
  providers: readonly ProviderName[],
): Promise<ReadonlyMap<ProviderName, number>> => {
  const rows = await db.all(sql('recent speeds', { provider: 'text', film_ms: 'int4?' })`
    select provider, (select (percentile_cont(0.1) within group (order by film_ms))::int4
       from (select duration_ms / greatest(extract(epoch from completed_at - coalesce(uploaded_at, created_at)), 1) as film_ms
               from assets where assets.provider = asked.provider and completed_at is not null and duration_ms is not null
              order by completed_at desc limit 100) as lately) as film_ms
      from unnest(${providers}::text[]) as asked (provider)`);
  return new Map(
    rows.flatMap(({ provider, film_ms }) => (film_ms === null ? [] : [[provider, film_ms / 1000] as const])),
  );
};
