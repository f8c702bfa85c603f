// SQL queries for collections. Their assets are in collection-items.sql.ts.
import type { Queries, Transaction } from '../platform/postgres/database.ts';
import { clause, columns, columnsOf, composeClauses, fragment, sql } from '../platform/postgres/sql.ts';
import { collectionRow } from '../tables-rows.ts';
import type { Collection, CountedCollection } from './collection.ts';

const COLLECTION = columns(collectionRow);
const COUNTED = { ...collectionRow, asset_count: 'int8' } as const;
const SHOWN = columnsOf('collection', collectionRow);
const ASSET_COUNT = fragment`(
  select count(*) from collection_items as item join assets on assets.id = item.asset_id
   where item.collection_id = collection.id and assets.deleted_at is null) as asset_count`;

type NewCollection = Omit<Collection, 'numbering' | 'updated_at'>;

/**
 * Creations of one owner wait for each other, so that each counts the earlier ones. An erasure that starts
 * waits for them too.
 */
export const lockCollectionCount = (tx: Transaction, owner: string) =>
  tx.one(sql('lock collection count', { is_erased: 'bool' })`
    select exists (select from owner_erasures where owner_user_id = ${owner}) as is_erased
      from pg_advisory_xact_lock_shared(80417, usage_bucket(${owner})),
           pg_advisory_xact_lock(hashtextextended('collections of ' || ${owner}, 0))`);

/** Undefined if the owner has `maxCount` collections. The caller holds the lock of their count. */
export const insertCollection = (tx: Transaction, row: NewCollection, maxCount: number) =>
  tx.one(sql('insert collection', collectionRow)`
    insert into collections (id, owner_user_id, name, description, visibility, metadata, created_at,
                             updated_at)
    select ${row.id}, ${row.owner_user_id}, ${row.name}, ${row.description}, ${row.visibility},
           ${row.metadata && JSON.stringify(row.metadata)}::jsonb, ${row.created_at}::timestamptz,
           ${row.created_at}::timestamptz
     where (select count(*) from collections where owner_user_id = ${row.owner_user_id}) < ${maxCount}
    returning ${COLLECTION}`) as Promise<Collection | undefined>;

export const findCollection = (db: Queries, id: string) =>
  db.one(sql('find collection', collectionRow)`
    select ${COLLECTION} from collections where id = ${id}`) as Promise<Collection | undefined>;

/** Reads each of its assets. */
export const findCountedCollection = (db: Queries, id: string) =>
  db.one(sql('find counted collection', COUNTED)`
    select ${SHOWN}, ${ASSET_COUNT} from collections as collection where id = ${id}`) as Promise<
    CountedCollection | undefined
  >;

type CollectionPageRequest = {
  readonly owner: string;
  readonly belowId: string | undefined;
  readonly limit: number;
};

/** Newest first. */
export const listCollections = (db: Queries, { owner, belowId, limit }: CollectionPageRequest) =>
  db.all(
    composeClauses('collections', COUNTED, [
      clause('')`select ${SHOWN}, ${ASSET_COUNT} from collections as collection
                  where owner_user_id = ${owner}`,
      ...(belowId === undefined ? [] : [clause('below')`and id < ${belowId}`]),
      clause('')`order by id desc limit ${limit}`,
    ]),
  ) as Promise<readonly CountedCollection[]>;

/** Changes of the collection and of its assets wait until the end of the transaction. */
export const lockCollection = (tx: Transaction, id: string) =>
  tx.one(sql('lock collection', collectionRow)`
    select ${COLLECTION} from collections where id = ${id} for no key update`) as Promise<
    Collection | undefined
  >;

type CollectionEdit = Pick<Collection, 'name' | 'description' | 'visibility' | 'metadata'>;

/** Undefined after a deletion. */
export const updateCollection = (tx: Transaction, id: string, edit: CollectionEdit) =>
  tx.one(sql('update collection')`
    update collections
       set name = ${edit.name}, description = ${edit.description}, visibility = ${edit.visibility},
           metadata = ${edit.metadata && JSON.stringify(edit.metadata)}::jsonb, updated_at = now()
     where id = ${id}`);

export const touchCollection = (tx: Transaction, id: string) =>
  tx.one(sql('touch collection')`update collections set updated_at = now() where id = ${id}`);

export const deleteCollection = (db: Queries, id: string) =>
  db.one(sql('delete collection', { id: 'uuid' })`delete from collections where id = ${id} returning id`);
