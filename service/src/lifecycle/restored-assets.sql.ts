// The statements that restore an asset from an archive, with its upload and its timeline.
import type { Asset } from '../assets/asset.ts';
import type { HistoryEvent, NewEvent } from '../assets/asset-event.ts';
import type { Transaction } from '../platform/postgres/database.ts';
import { columns, definitions, sql } from '../platform/postgres/sql.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import { assetRow, eventRow, pick } from '../tables.ts';

const historyRow = pick(eventRow, ['id', 'type', 'data', 'created_at', 'revision']);

type RestoredRow = {
  readonly asset: Asset;
  readonly event: NewEvent;
  readonly traceparent: string | undefined;
};

const ASSET = columns(assetRow);
const DEFINITIONS = definitions(assetRow);

/** Undefined if an asset with this id exists. */
export async function insertRestored(
  tx: Transaction,
  { asset, event, traceparent }: RestoredRow,
): Promise<Asset | undefined> {
  const inserted = await tx.one(sql('restore asset', { id: 'uuid', is_notified: 'bool' })`
    with created as (
      insert into assets (${ASSET})
      select ${ASSET}
        from json_to_record(${JSON.stringify(asset)}::json) as restored (${DEFINITIONS})
      on conflict (id) do nothing
      returning id, owner_user_id, attempt, size_bytes, original_upload, revision, updated_at),
    stored as (
      insert into uploads (id, asset_id, owner_user_id, attempt, protocol, size_bytes, bytes_received,
                           created_at, expires_at, finished_at)
      select original_upload, id, owner_user_id, attempt, 'put', size_bytes, size_bytes,
             updated_at, updated_at, updated_at
        from created),
    recorded as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at, revision, traceparent)
      select ${uuidV7()}::uuid, id, owner_user_id, ${event.type}, ${JSON.stringify(event.data)}::jsonb,
             updated_at, revision, ${traceparent ?? null}
        from created)
    select id, pg_notify('mediary_events', id::text) is not null as is_notified from created`);
  return inserted && asset;
}

/**
 * Adds events that other services have sent already: a position before all others keeps them out of feeds and
 * webhooks.
 */
export const insertHistory = (
  tx: Transaction,
  { id, owner_user_id: owner }: Pick<Asset, 'id' | 'owner_user_id'>,
  events: readonly HistoryEvent[],
) =>
  tx.all(sql('restore events')`
    insert into events (id, asset_id, owner_user_id, type, data, created_at, revision, transaction_id)
    select past.id, ${id}::uuid, ${owner}, type, data, created_at, revision, -1
      from json_to_recordset(${JSON.stringify(events)}::json) as past (${definitions(historyRow)})
    on conflict (asset_id, id) do nothing`);
