// A collection: its row with types for each column, and its representation in the API.
import type { Visibility } from '@mediary/contract/enums';
import type { Collection as CollectionView } from '@mediary/contract/schemas/collections';
import type { RowOf } from '../platform/postgres/row.ts';
import type { collectionRow } from '../tables-rows.ts';

type ColumnTypes = {
  readonly visibility: Visibility;
  readonly metadata: Readonly<Record<string, unknown>> | null;
};

export type Collection = Readonly<Omit<RowOf<typeof collectionRow>, keyof ColumnTypes>> & ColumnTypes;

/** `asset_count`: without assets in the trash. */
export type CountedCollection = Collection & { readonly asset_count: number };

export const toCollectionView = (collection: CountedCollection): CollectionView => ({
  id: collection.id,
  owner_user_id: collection.owner_user_id,
  name: collection.name,
  description: collection.description,
  visibility: collection.visibility,
  metadata: collection.metadata,
  asset_count: collection.asset_count,
  created_at: collection.created_at.toISOString(),
  updated_at: collection.updated_at.toISOString(),
});
