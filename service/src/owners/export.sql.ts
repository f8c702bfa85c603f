// SQL queries that export the events and collections of an owner.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { eventRow, pick } from '../tables.ts';
import { collectionRow } from '../tables-rows.ts';

const exportedEvent = pick(eventRow, ['id', 'type', 'data', 'created_at', 'revision']);

type Page = { readonly after: string; readonly limit: number };

export const listEvents = (db: Queries, assetId: string, page: Page) =>
  db.all(sql('exported events', exportedEvent)`
    select ${columns(exportedEvent)} from events
     where asset_id = ${assetId} and id > ${page.after} order by id limit ${page.limit}`);

const exportedCollection = {
  ...pick(collectionRow, ['id', 'owner_user_id', 'name', 'description', 'visibility', 'metadata']),
  created_at: 'timestamptz',
  asset_ids: 'text[]',
} as const;

/** With the assets in their order, those in the trash included. */
export const listCollections = (db: Queries, owner: string, page: Page) =>
  db.all(sql('exported collections', exportedCollection)`
    select id, owner_user_id, name, description, visibility, metadata, created_at,
           array(select asset_id::text from collection_items
                  where collection_id = collection.id order by position, asset_id) as asset_ids
      from collections as collection
     where owner_user_id = ${owner} and id > ${page.after} order by id limit ${page.limit}`);
