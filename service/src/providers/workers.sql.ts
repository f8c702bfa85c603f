// SQL queries for the processes that run jobs, and for the providers whose videos exist.
import type { ProviderName } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import type { RowOf } from '../platform/postgres/row.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { TABLES } from '../tables.ts';

const WORKER = columns(TABLES.workers);

export type WorkerRow = Readonly<RowOf<typeof TABLES.workers>>;

/** Also renews the row, and creates it again if another process deleted it. */
export const recordWorker = (
  db: Queries,
  worker: Pick<WorkerRow, 'id' | 'roles' | 'version' | 'providers' | 'video_encoder' | 'clock_skew_ms'>,
) =>
  db.all(sql('record worker')`
    insert into workers (id, roles, version, providers, video_encoder, clock_skew_ms)
    values (${worker.id}, ${worker.roles}::text[], ${worker.version}, ${worker.providers}::text[],
            ${worker.video_encoder}, ${worker.clock_skew_ms})
    on conflict (id) do update set seen_at = now(), clock_skew_ms = excluded.clock_skew_ms`);

export const deleteWorker = (db: Queries, id: string) =>
  db.all(sql('delete worker')`delete from workers where id = ${id}`);

/** Rows of processes that ended without deleting them. */
export const deleteStaleWorkers = (db: Queries) =>
  db.all(sql('delete stale workers')`delete from workers where seen_at < now() - interval '60 seconds'`);

/** Three heartbeats may be missed. Oldest process first. */
export const listLiveWorkers = (db: Queries): Promise<WorkerRow[]> =>
  db.all(sql('live workers', TABLES.workers)`
    select ${WORKER} from workers where seen_at > now() - interval '35 seconds' order by started_at, id`);

/** Lists which of `providers` have videos. */
export const listProvidersWithVideos = async (
  db: Queries,
  providers: readonly ProviderName[],
): Promise<ProviderName[]> =>
  (
    await db.all(sql('providers with videos', { name: 'text' })`
    select name from unnest(${providers}::text[]) as name
     where exists (select 1 from assets where provider = name and provider_video_id is not null)`)
  ).map(({ name }) => name);
