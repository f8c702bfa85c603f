// Stores what a caller edits, if nobody was faster.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import { assetRow } from '../tables.ts';
import type { Asset } from '../assets/asset.ts';
import type { NewEvent } from '../assets/asset-event.ts';

const ASSET = columns(assetRow);

/** The columns that callers may edit. */
export type Edited = Pick<Asset, 'title' | 'tags' | 'metadata' | 'visibility' | 'poster_time_ms'>;

/** A change of visibility ends the playback tokens that are out. */
export const storeEdit = async (
  db: Queries,
  seen: Asset,
  { next, event, now }: { next: Edited; event: NewEvent; now: Date },
) =>
  (await db.one(sql('store edit', assetRow)`
    with edited as (
      update assets set title = ${next.title}, tags = ${next.tags}, metadata = ${next.metadata && JSON.stringify(next.metadata)}, poster_time_ms = ${next.poster_time_ms},
             playback_version = playback_version + (visibility <> ${next.visibility})::int, visibility = ${next.visibility},
             version = version + 1, revision = revision + 1, updated_at = ${now}
       where id = ${seen.id} and revision = ${seen.revision} returning ${ASSET}),
    told as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at)
      select ${uuidV7()}::uuid, id, owner_user_id, ${event.type}, ${JSON.stringify(event.data)}::jsonb, ${now}::timestamptz from edited)
    select ${ASSET} from edited`)) as Asset | undefined;
