// SQL queries for replacements, and for previous files whose time has passed.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Replacements that are ready, or whose asset is deleted for good, behind an id. */
export const findDueReplacements = (db: Queries, after: string, limit: number) =>
  db.all(sql('due replacements', { id: 'uuid', owner_user_id: 'text', is_ended: 'bool' })`
    select replacement.id, replacement.owner_user_id,
           asset.id is null or (asset.deleted_at is not null and asset.purge_at is null) as is_ended
      from assets as replacement left join assets as asset on asset.id = replacement.version_of
     where replacement.version_of is not null and replacement.deleted_at is null
       and replacement.id > ${after}::uuid
       and (replacement.stream_status = 'ready'
            or asset.id is null or (asset.deleted_at is not null and asset.purge_at is null))
     order by replacement.id limit ${limit}`);

type PreviousPage = { readonly now: Date; readonly after: PreviousPosition; readonly limit: number };
type PreviousPosition = { readonly until: string; readonly id: string };
export const FIRST_PREVIOUS: PreviousPosition = { until: '', id: FIRST_ID };

/** Assets whose previous file cannot come back any more, oldest first. Times in ISO 8601 compare as text. */
export const findExpiredVersions = (db: Queries, { now, after, limit }: PreviousPage) =>
  db.all(sql('expired versions', { id: 'uuid', until: 'text' })`
    select id, previous_version ->> 'restorable_until' as until
      from assets
     where previous_version is not null and previous_version ->> 'restorable_until' <= ${now.toISOString()}
       and (previous_version ->> 'restorable_until', id) > (${after.until}::text, ${after.id}::uuid)
     order by previous_version ->> 'restorable_until', id
     limit ${limit}`);
