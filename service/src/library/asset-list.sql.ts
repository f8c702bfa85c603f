// The list of an owner's assets: one walk along one index, whatever is filtered, and never an offset (contract B3).
import type { Queries } from '../platform/postgres/database.ts';
import { columns, composed, type Piece, piece } from '../platform/postgres/sql.ts';
import { shownColumns } from '../tables.ts';
import type { ShownAsset } from '../assets/asset.ts';
import type { AssetFilter } from './asset-filter.ts';

const SHOWN = columns(shownColumns);

export type PageWalk = {
  readonly after: string | undefined;
  readonly limit: number;
  readonly isOldestFirst: boolean;
};

export const listAssets = async (
  db: Queries,
  filter: AssetFilter,
  { after, limit, isOldestFirst }: PageWalk,
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
    ...(text === undefined ? [] : [inText(text)]),
    ...(fromId === undefined ? [] : [piece('from')`and id >= ${fromId}`]),
    ...(belowId === undefined ? [] : [piece('below')`and id < ${belowId}`]),
  ];
}

/** The first condition is the index's, which also finds what begins in the title and ends in the file name. */
const inText = (pattern: string): Piece =>
  piece(
    'text',
  )`and lower(coalesce(title, '') || ' ' || filename) like lower(${pattern}) and (lower(title) like lower(${pattern}) or lower(filename) like lower(${pattern}))`;
