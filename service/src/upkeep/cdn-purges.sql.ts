// SQL queries for the purges of a CDN.
import type { PurgeReason } from '@mediary/contract/enums';
import type { Queries } from '../platform/postgres/database.ts';
import type { RowOf } from '../platform/postgres/row.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { TABLES } from '../tables.ts';

const SHAPE = TABLES.cdn_purges;
const COLUMNS = columns(SHAPE);

type PurgeRow = Readonly<Omit<RowOf<typeof SHAPE>, 'reason'> & { reason: PurgeReason }>;
type NewPurge = Pick<PurgeRow, 'asset_id' | 'playback_version' | 'reason' | 'prefix' | 'created_at'>;

/** Does nothing if the purge is recorded already. */
export const insertPurge = (db: Queries, row: NewPurge) =>
  db.one(sql('insert cdn purge')`
    insert into cdn_purges (asset_id, playback_version, reason, prefix, created_at)
    values (${row.asset_id}, ${row.playback_version}, ${row.reason}, ${row.prefix}, ${row.created_at})
    on conflict (asset_id, playback_version) do nothing`);

type Attempt = Pick<PurgeRow, 'asset_id' | 'playback_version' | 'last_error' | 'delivered_at'>;

export const recordPurgeAttempt = (db: Queries, attempt: Attempt) =>
  db.one(sql('record cdn purge attempt')`
    update cdn_purges
       set attempts = attempts + 1, last_error = ${attempt.last_error}, delivered_at = ${attempt.delivered_at}
     where asset_id = ${attempt.asset_id} and playback_version = ${attempt.playback_version}`);

type PurgeFilter = {
  readonly limit: number;
  readonly delivered?: boolean | null | undefined;
  readonly afterId?: string | null;
  readonly afterVersion?: number | null;
};

/** Newest first, after the purge of `afterId` and `afterVersion`. */
export const listPurgeRows = async (
  db: Queries,
  { limit, delivered = null, afterId = null, afterVersion = null }: PurgeFilter,
): Promise<PurgeRow[]> =>
  (await db.all(sql('list cdn purges', SHAPE)`
    select ${COLUMNS} from cdn_purges
     where (${delivered}::bool is null or (delivered_at is not null) = ${delivered}::bool)
       and (${afterId}::uuid is null or (created_at, asset_id, playback_version) <
            (select created_at, asset_id, playback_version from cdn_purges
              where asset_id = ${afterId}::uuid and playback_version = ${afterVersion}::int))
     order by created_at desc, asset_id desc, playback_version desc
     limit ${limit}`)) as PurgeRow[];

export const deletePurgesBefore = (db: Queries, before: Date) =>
  db.one(sql('delete old cdn purges')`delete from cdn_purges where created_at < ${before}`);
