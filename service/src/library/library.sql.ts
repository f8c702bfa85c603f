// SQL queries for lists and the trash. A list is one walk along one index, never an offset (contract B3).
import type { Asset, ShownAsset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, composed, type Piece, piece, sql } from '../platform/postgres/sql.ts';
import { assetRow, shownColumns } from '../tables.ts';
import type { AssetFilter } from './asset-filter.ts';

const ASSET = columns(assetRow);
const SHOWN = columns(shownColumns);

type PageRequest = {
  readonly after: string | undefined;
  readonly limit: number;
  readonly isOldestFirst: boolean;
};

export const listAssets = async (
  db: Queries,
  filter: AssetFilter,
  { after, limit, isOldestFirst }: PageRequest,
): Promise<readonly ShownAsset[]> =>
  (await db.all(
    composed('list assets', shownColumns, [
      piece('')`select ${SHOWN} from assets`,
      ...conditions(filter),
      ...from(after, isOldestFirst),
      isOldestFirst
        ? piece('oldest')`order by id limit ${limit}`
        : piece('newest')`order by id desc limit ${limit}`,
    ]),
  )) as readonly unknown[] as readonly ShownAsset[];

export const countAssets = async (db: Queries, filter: AssetFilter): Promise<number> =>
  (
    await db.one(
      composed('count assets', { total: 'int8' }, [
        piece('')`select count(*) as total from assets`,
        ...conditions(filter),
      ]),
    )
  )?.total ?? 0;

function from(after: string | undefined, isOldestFirst: boolean): Piece[] {
  if (after === undefined) return [];
  return [isOldestFirst ? piece('after')`and id > ${after}` : piece('before')`and id < ${after}`];
}

function conditions(filter: AssetFilter): Piece[] {
  const { kind, streamStatus, provider, tag, text, fromId, belowId } = filter;
  return [
    filter.owner === undefined ? piece('all')`where true` : piece('')`where owner_user_id = ${filter.owner}`,
    filter.isTrash ? piece('trash')`and purge_at is not null` : piece('')`and deleted_at is null`,
    ...(kind === undefined ? [] : [piece('kind')`and kind = ${kind}`]),
    ...(streamStatus === undefined ? [] : [piece('status')`and stream_status = ${streamStatus}`]),
    ...(provider === undefined ? [] : [piece('provider')`and provider = ${provider}`]),
    ...(tag === undefined ? [] : [piece('tag')`and tags @> array[${tag}::text]`]),
    ...(text === undefined ? [] : [matchesText(text)]),
    ...(fromId === undefined ? [] : [piece('from')`and id >= ${fromId}`]),
    ...(belowId === undefined ? [] : [piece('below')`and id < ${belowId}`]),
  ];
}

/** The first condition uses the index but also matches text that spans title and file name, so the second one checks each. */
const matchesText = (pattern: string): Piece =>
  piece(
    'text',
  )`and lower(coalesce(title, '') || ' ' || filename) like lower(${pattern}) and (lower(title) like lower(${pattern}) or lower(filename) like lower(${pattern}))`;

/** Assets whose time in the trash has passed, oldest first. */
export const findExpiredTrash = async (db: Queries, now: Date, limit: number) =>
  (await db.all(sql('expired trash', assetRow)`
    select ${ASSET} from assets where purge_at <= ${now} order by purge_at limit ${limit}`)) as readonly unknown[] as readonly Asset[];
