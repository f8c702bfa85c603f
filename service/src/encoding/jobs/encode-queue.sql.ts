// SQL queries for the operators' view of running and waiting encodes.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

const ENCODE = {
  id: 'uuid',
  owner_user_id: 'text',
  attempt: 'int4',
  encode_try: 'int4',
  progress: 'int4',
  filename: 'text',
  duration_ms: 'int8?',
  worker: 'text?',
  run_started_at: 'timestamptz?',
} as const;

/** Assets that still need an encode, with their current run. */
export const findEncodes = (db: Queries, assetIds: readonly string[]) =>
  db.all(sql('find encodes', ENCODE)`
    select assets.id, owner_user_id, assets.attempt, encode_try, progress, filename, duration_ms,
           run.worker, run.started_at as run_started_at
      from assets
      left join encode_runs as run on run.asset_id = assets.id and run.attempt = assets.attempt and run.try = assets.encode_try
     where assets.id = any(${assetIds}::uuid[]) and stream_status = 'processing' and encoded_try = 0 and deleted_at is null`);
