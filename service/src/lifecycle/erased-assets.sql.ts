// The statements that remove assets and their events for good, when everything of their owner is erased.
import type { AssetRef } from '../assets/asset.ts';
import type { Queries, Transaction } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

const REMOVED = { asset_id: 'uuid', kind: 'text', count: 'int8' } as const;

/** The lock of a row ends the writers of its asset; what they wrote last is removed by later statements. */
export const deleteErasedAssets = (tx: Transaction, ids: readonly string[]) =>
  tx.all(sql('delete erased assets', REMOVED)`
    with locked as materialized (
      select id from assets where id = any(${ids}::uuid[]) order by id for update),
    gone as (delete from assets where id in (select id from locked) returning id)
    select id as asset_id, 'asset' as kind, 1::int8 as count from gone`);

export const deleteErasedEvents = (tx: Transaction, ids: readonly string[]) =>
  tx.all(sql('delete erased events', REMOVED)`
    with gone as (delete from events where asset_id = any(${ids}::uuid[]) returning asset_id)
    select asset_id, 'events' as kind, count(*) as count from gone group by asset_id`);

export const isErased = async (db: Queries, ref: AssetRef): Promise<boolean> => {
  const found =
    'assetId' in ref
      ? await db.one(sql('is asset erased', { asset_id: 'uuid' })`
          select asset_id from owner_erasure_items where asset_id = ${ref.assetId}::uuid limit 1`)
      : await db.one(sql('is video erased', { asset_id: 'uuid' })`
          select asset_id from owner_erasure_items
           where provider = ${ref.provider} and provider_video_id = ${ref.providerVideoId} limit 1`);
  return found !== undefined;
};
