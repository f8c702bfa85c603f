// SQL queries for lists and the trash. A list is one walk along one index, never an offset (contract B3).
import { MAX_SHOWN_COLLECTIONS } from '@mediary/contract/schemas/assets/asset';
import type { Asset, ShownAsset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import {
  columns,
  columnsOf,
  composeClauses,
  type Clause,
  clause,
  fragment,
  sql,
} from '../platform/postgres/sql.ts';
import { assetRow, shownColumns } from '../tables.ts';
import type { AssetFilter } from './asset-filter.ts';

const ASSET = columns(assetRow);
const SHOWN = columnsOf('assets', shownColumns);

type PageRequest = {
  readonly after: string | undefined;
  readonly limit: number;
  readonly isOldestFirst: boolean;
};

/** Frequent words are found among the next assets: an index of words would read all assets that have them. */
const NEAR = fragment`2000`;

export async function listAssets(
  db: Queries,
  filter: AssetFilter,
  page: PageRequest,
): Promise<readonly ShownAsset[]> {
  const { text } = filter;
  if (text !== undefined) {
    const near = await listNearAssets(db, { ...filter, text }, page);
    if (near.length === page.limit) return near;
  }
  return await listMatchingAssets(db, filter, page);
}

async function listMatchingAssets(
  db: Queries,
  filter: AssetFilter,
  { after, limit, isOldestFirst }: PageRequest,
): Promise<readonly ShownAsset[]> {
  const walk = walkOf(filter);
  return (await db.all(
    composeClauses('list assets', shownColumns, [
      clause(walk.key)`select ${SHOWN} from ${walk.rows}`,
      ...conditions(filter, walk),
      ...from(walk, after, isOldestFirst),
      inOrder(walk.id, isOldestFirst, limit),
    ]),
  )) as readonly unknown[] as readonly ShownAsset[];
}

/** Those with this text among the next assets that pass all other filters. */
async function listNearAssets(
  db: Queries,
  { text, ...filter }: AssetFilter & { readonly text: string },
  { after, limit, isOldestFirst }: PageRequest,
): Promise<readonly ShownAsset[]> {
  const walk = walkOf(filter);
  return (await db.all(
    composeClauses('list near assets', shownColumns, [
      clause(walk.key)`select ${SHOWN} from (select assets.* from ${walk.rows}`,
      ...conditions(filter, walk),
      ...from(walk, after, isOldestFirst),
      inOrder(walk.id, isOldestFirst, NEAR),
      clause('near')`) as assets where true`,
      matchesText(text),
      inOrder(ASSETS.id, isOldestFirst, limit),
    ]),
  )) as readonly unknown[] as readonly ShownAsset[];
}

const inOrder = (id: Walk['id'], isOldestFirst: boolean, limit: number | typeof NEAR): Clause =>
  isOldestFirst
    ? clause('oldest')`order by ${id} limit ${limit}`
    : clause('newest')`order by ${id} desc limit ${limit}`;

export const countAssets = async (db: Queries, filter: AssetFilter): Promise<number> => {
  const walk = walkOf(filter);
  const counted = await db.one(
    composeClauses('count assets', { total: 'int8' }, [
      clause(walk.key)`select count(*) as total from ${walk.rows}`,
      ...conditions(filter, walk),
    ]),
  );
  return counted?.total ?? 0;
};

/** The table whose index a list follows. Assets that are not ready have rows of their own. */
const walkOf = ({ isTrash, streamStatus }: AssetFilter) =>
  isTrash || streamStatus === undefined || streamStatus === 'ready' ? ASSETS : UNFINISHED;

const ASSETS = {
  key: '',
  rows: fragment`assets`,
  id: fragment`assets.id`,
  owner: fragment`assets.owner_user_id`,
  status: fragment`assets.stream_status`,
};
const UNFINISHED = {
  key: 'unfinished',
  rows: fragment`unfinished_assets as unfinished join assets on assets.id = asset_id`,
  id: fragment`asset_id`,
  owner: fragment`unfinished.owner_user_id`,
  status: fragment`unfinished.stream_status`,
};
type Walk = typeof ASSETS;

function from(walk: Walk, after: string | undefined, isOldestFirst: boolean): Clause[] {
  if (after === undefined) return [];
  return [
    isOldestFirst ? clause('after')`and ${walk.id} > ${after}` : clause('before')`and ${walk.id} < ${after}`,
  ];
}

function conditions(filter: AssetFilter, walk: Walk): Clause[] {
  const { kind, streamStatus, provider, externalId, text, fromId, belowId, expiresBefore } = filter;
  return [
    filter.owner === undefined
      ? clause('all')`where true`
      : clause('')`where ${walk.owner} = ${filter.owner}`,
    filter.isTrash ? clause('trash')`and purge_at is not null` : clause('')`and deleted_at is null`,
    ...(filter.owner === undefined ? [] : [clause('')`and version_of is null`]),
    ...(kind === undefined ? [] : [clause('kind')`and kind = ${kind}`]),
    ...(streamStatus === undefined ? [] : [clause('status')`and ${walk.status} = ${streamStatus}`]),
    ...(provider === undefined ? [] : [clause('provider')`and assets.provider = ${provider}`]),
    ...(externalId === undefined ? [] : [clause('external id')`and external_id = ${externalId}`]),
    ...tagConditions(filter),
    ...(filter.metadata ?? []).map((any) => clause('metadata')`and metadata @> any(${any}::jsonb[])`),
    ...(text === undefined ? [] : [matchesText(text)]),
    ...(fromId === undefined ? [] : [clause('from')`and ${walk.id} >= ${fromId}`]),
    ...(expiresBefore === undefined ? [] : [clause('expiring')`and expires_at < ${expiresBefore}`]),
    ...(belowId === undefined ? [] : [clause('below')`and ${walk.id} < ${belowId}`]),
  ];
}

function tagConditions({ tags, isAnyTag }: AssetFilter): Clause[] {
  if (tags === undefined) return [];
  return [
    isAnyTag ? clause('any tag')`and tags && ${tags}::text[]` : clause('tags')`and tags @> ${tags}::text[]`,
  ];
}

/** The first condition uses the index but also finds matches across both columns; the second does not. */
const matchesText = (pattern: string): Clause =>
  clause('text')`and lower(coalesce(title, '') || ' ' || filename) like lower(${pattern})
    and (lower(title) like lower(${pattern}) or lower(filename) like lower(${pattern}))`;

/** Newest first, at most as many as an asset shows; in the order of the assets. */
export const findCollectionsOf = async (db: Queries, assetIds: readonly string[]) =>
  (
    await db.all(sql('collections of assets', { collections: 'text[]' })`
    select array(select item.collection_id::text from collection_items as item
                  where item.asset_id = asset.id
                  order by item.collection_id desc limit ${MAX_SHOWN_COLLECTIONS}) as collections
      from unnest(${assetIds}::uuid[]) with ordinality as asset (id, place) order by place`)
  ).map((row) => row.collections);

export const NIL_ID = '00000000-0000-0000-0000-000000000000';

type ExpiryPosition = Pick<Asset, 'expires_at' | 'id'>;
export const ASSET_EXPIRY_START: ExpiryPosition = { expires_at: new Date(0), id: NIL_ID };

type ExpiryPage = { readonly now: Date; readonly after: ExpiryPosition; readonly limit: number };

/** A hold keeps an asset. A permanent deletion has no time of purge. */
const MAY_EXPIRE = fragment`not legal_hold and (deleted_at is null or purge_at is not null)`;

/** Assets that have expired, oldest first, also those in the trash; none under a legal hold. */
export const findExpiredAssets = async (db: Queries, { now, after, limit }: ExpiryPage) =>
  (await db.all(sql('expired assets', assetRow)`
    select ${ASSET}
      from assets
     where expires_at <= ${now} and ${MAY_EXPIRE}
       and (expires_at, id) > (${after.expires_at}::timestamptz, ${after.id}::uuid)
     order by expires_at, id
     limit ${limit}`)) as readonly unknown[] as readonly Asset[];

/** Whether `findExpiredAssets` would find one. */
export const hasExpiredAssets = async (db: Queries): Promise<boolean> =>
  (
    await db.one(sql('has expired assets', { has_any: 'bool' })`
    select exists (select from assets
                    where expires_at <= now() and ${MAY_EXPIRE}) as has_any`)
  )?.has_any === true;

type TrashPosition = Pick<Asset, 'purge_at' | 'id'>;
export const TRASH_START: TrashPosition = { purge_at: new Date(0), id: NIL_ID };

type TrashPage = { readonly now: Date; readonly after: TrashPosition; readonly limit: number };

/** Assets whose time in the trash has passed, oldest first; none under a legal hold. */
export const findExpiredTrash = async (db: Queries, { now, after, limit }: TrashPage) =>
  (await db.all(sql('expired trash', assetRow)`
    select ${ASSET}
      from assets
     where purge_at <= ${now} and not legal_hold
       and (purge_at, id) > (${after.purge_at}::timestamptz, ${after.id}::uuid)
     order by purge_at, id
     limit ${limit}`)) as readonly unknown[] as readonly Asset[];
