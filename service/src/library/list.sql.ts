// SQL queries for lists of assets. A list by creation is one walk along one index, never an offset (contract
// B3).
import type { ShownAsset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columnsOf, composeClauses, type Clause, clause, fragment } from '../platform/postgres/sql.ts';
import { shownColumns } from '../tables.ts';
import type { AssetFilter } from './asset-filter.ts';
import type { PlaceInList, SortedOrder } from './asset-order.ts';

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

type SortedPageRequest = {
  readonly order: SortedOrder;
  readonly after: PlaceInList | undefined;
  readonly limit: number;
};

const UPDATED = fragment`(extract(epoch from assets.updated_at) * 1000000)::int8`;
const TITLE = fragment`lower(coalesce(assets.title, assets.filename))`;
/** Assets without the value come last in both directions. */
const SORT_KEYS = {
  updated_at: { up: UPDATED, down: UPDATED, type: fragment`int8` },
  title: { up: TITLE, down: TITLE, type: fragment`text` },
  size_bytes: {
    up: fragment`coalesce(assets.size_bytes, 9007199254740991)`,
    down: fragment`coalesce(assets.size_bytes, -1)`,
    type: fragment`int8`,
  },
  duration_ms: {
    up: fragment`coalesce(assets.duration_ms, 9007199254740991)`,
    down: fragment`coalesce(assets.duration_ms, -1)`,
    type: fragment`int8`,
  },
};

/** Reads all assets that pass the filter: ask `hasMoreAssets` first. */
export async function listSortedAssets(
  db: Queries,
  filter: AssetFilter,
  { order: { by, isDescending }, after, limit }: SortedPageRequest,
): Promise<readonly (ShownAsset & PlaceInList)[]> {
  const walk = walkOf(filter);
  const { type, [isDescending ? 'down' : 'up']: key } = SORT_KEYS[by];
  const direction = isDescending ? DOWN : UP;
  return (await db.all(
    composeClauses('list sorted assets', { ...shownColumns, key: 'text' }, [
      clause(`${by} ${isDescending}`)`
        select ${SHOWN}, page.key::text as key
          from (select assets.id, ${key} as key from ${walk.rows}`,
      clause(walk.key)``,
      ...conditions(filter, walk),
      ...(after === undefined
        ? []
        : [
            clause('after')`
              and (${key}, assets.id) ${direction.beyond} (${after.key}::${type}, ${after.id}::uuid)`,
          ]),
      clause('')`order by ${key} ${direction.order}, assets.id ${direction.order} limit ${limit}) as page
          join assets on assets.id = page.id
         order by page.key ${direction.order}, page.id ${direction.order}`,
    ]),
  )) as readonly unknown[] as readonly (ShownAsset & PlaceInList)[];
}

const UP = { order: fragment`asc`, beyond: fragment`>` };
const DOWN = { order: fragment`desc`, beyond: fragment`<` };

/** Whether more assets pass the filter, without its `updatedAfter`; reads no more than that. */
export async function hasMoreAssets(
  db: Queries,
  { updatedAfter: _any, ...filter }: AssetFilter,
  limit: number,
): Promise<boolean> {
  const walk = walkOf(filter);
  const counted = await db.one(
    composeClauses('count few assets', { total: 'int8' }, [
      clause(walk.key)`select count(*) as total from (select from ${walk.rows}`,
      ...conditions(filter, walk),
      clause('')`limit ${limit + 1}) as few`,
    ]),
  );
  return (counted?.total ?? 0) > limit;
}

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
  const { kind, streamStatus, provider, externalId, text, fromId, belowId, updatedAfter, expiresBefore } =
    filter;
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
    ...(updatedAfter === undefined ? [] : [clause('updated')`and assets.updated_at > ${updatedAfter}`]),
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
