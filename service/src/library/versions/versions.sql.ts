// SQL queries for replacements, and for previous files whose time has passed.
import type { Queries } from '../../platform/postgres/database.ts';
import type { RowOf } from '../../platform/postgres/row.ts';
import { sql } from '../../platform/postgres/sql.ts';
import { NIL_ID } from '../library.sql.ts';

const dueReplacementRow = { id: 'uuid', is_ended: 'bool' } as const;

/** `is_ended`: its asset is deleted for good. */
export type DueReplacement = RowOf<typeof dueReplacementRow>;
export const FIRST_REPLACEMENT: DueReplacement = { id: NIL_ID, is_ended: false };

/** Replacements that are ready, or whose asset is deleted for good, behind an id. */
export const findDueReplacements = (db: Queries, after: string, limit: number) =>
  db.all(sql('due replacements', dueReplacementRow)`
    select id, is_ended
      from (select replacement.id, replacement.stream_status,
                   asset.id is null or (asset.deleted_at is not null and asset.purge_at is null) as is_ended
              from assets as replacement left join assets as asset on asset.id = replacement.version_of
             where replacement.version_of is not null and replacement.deleted_at is null
               and replacement.id > ${after}::uuid) as open
     where is_ended or stream_status = 'ready'
     order by id limit ${limit}`);

type PreviousPage = { readonly now: Date; readonly after: PreviousPosition; readonly limit: number };
type PreviousPosition = { readonly until: string; readonly id: string };
export const FIRST_PREVIOUS: PreviousPosition = { until: '', id: NIL_ID };

/** Assets whose previous file cannot come back any more, oldest first. Times in ISO 8601 compare as text. */
export const findExpiredVersions = (db: Queries, { now, after, limit }: PreviousPage) =>
  db.all(sql('expired versions', { id: 'uuid', until: 'text' })`
    select id, previous_version ->> 'restorable_until' as until
      from assets
     where previous_version is not null and previous_version ->> 'restorable_until' <= ${now.toISOString()}
       and (previous_version ->> 'restorable_until', id) > (${after.until}::text, ${after.id}::uuid)
     order by previous_version ->> 'restorable_until', id
     limit ${limit}`);
