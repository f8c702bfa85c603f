// SQL queries for the processes of the service, and for the providers whose videos exist.
import type { ProviderName } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import type { RowOf } from '../platform/postgres/row.ts';
import { columns, fragment, sql } from '../platform/postgres/sql.ts';
import { pick, TABLES } from '../tables.ts';

type WorkerRow = Readonly<RowOf<typeof TABLES.workers>>;

/** What a process records about itself. */
export type WorkerRecord = Omit<
  WorkerRow,
  'started_at' | 'seen_at' | 'stopped_at' | 'protections' | 'running_jobs' | 'circuits'
> &
  Readonly<Record<'protections' | 'running_jobs' | 'circuits', object>>;

/**
 * Also renews the row, and creates it again if it is gone: a crash of the database empties the table. Of an
 * existing row `is_draining` stays, because operators set it.
 */
export const recordWorker = (db: Queries, worker: WorkerRecord) =>
  db.one(sql('record worker', { is_draining: 'bool' })`
    insert into workers (id, host, roles, version, providers, video_encoder, clock_skew_ms,
                         scratch_free_bytes, encode_slots, protections, running_jobs, circuits, is_draining)
    values (${worker.id}, ${worker.host}, ${worker.roles}::text[], ${worker.version},
            ${worker.providers}::text[], ${worker.video_encoder}, ${worker.clock_skew_ms},
            ${worker.scratch_free_bytes}, ${worker.encode_slots},
            ${JSON.stringify(worker.protections)}::jsonb,
            ${JSON.stringify(worker.running_jobs)}::jsonb, ${JSON.stringify(worker.circuits)}::jsonb,
            ${worker.is_draining})
    on conflict (id) do update
       set seen_at = now(), clock_skew_ms = excluded.clock_skew_ms,
           scratch_free_bytes = excluded.scratch_free_bytes, running_jobs = excluded.running_jobs,
           circuits = excluded.circuits
    returning is_draining`);

export const recordWorkerStop = (db: Queries, id: string) =>
  db.all(sql('record worker stop')`
    update workers set stopped_at = now(), seen_at = now(), running_jobs = '[]' where id = ${id}`);

const IS_STALE = fragment`seen_at < now() - interval '24 hours'`;

/** A day after their last sign of life. */
export const deleteStaleWorkers = (db: Queries) =>
  db.all(sql('delete stale workers')`delete from workers where ${IS_STALE}`);

const LIVE_WORKER = pick(TABLES.workers, [
  'id',
  'roles',
  'version',
  'providers',
  'started_at',
  'seen_at',
  'video_encoder',
  'clock_skew_ms',
]);
export type LiveWorkerRow = Readonly<RowOf<typeof LIVE_WORKER>>;

/** Of the processes that run jobs. Three heartbeats may be missed. Oldest process first. */
export const listLiveWorkers = (db: Queries): Promise<LiveWorkerRow[]> =>
  db.all(sql('live workers', LIVE_WORKER)`
    select ${columns(LIVE_WORKER)} from workers
     where seen_at > now() - interval '35 seconds' and stopped_at is null and 'worker' = any(roles)
     order by started_at, id`);

/** True when a process with jobs that is not drained serves the provider. */
export const hasLiveWorkerFor = async (db: Queries, provider: ProviderName): Promise<boolean> =>
  (await db.one(sql('live worker of provider', { id: 'uuid' })`
    select id from workers
     where seen_at > now() - interval '35 seconds' and stopped_at is null and not is_draining
       and 'worker' = any(roles) and ${provider} = any(providers) limit 1`)) !== undefined;

const PROCESS = { ...TABLES.workers, state: 'text' } as const;
export type ProcessRow = Readonly<RowOf<typeof PROCESS>>;

type ProcessPage = { readonly limit: number; readonly afterId?: string | undefined };

/** Newest process first, after the one with `afterId`. A job deletes ended ones some time after their day. */
export const listProcessRows = (db: Queries, { limit, afterId }: ProcessPage): Promise<ProcessRow[]> =>
  db.all(sql('list processes', PROCESS)`
    select ${columns(TABLES.workers)},
           case when stopped_at is not null then 'stopped'
                when seen_at <= now() - interval '35 seconds' then 'lost'
                when is_draining then 'draining' else 'live' end as state
      from workers
     where not (${IS_STALE})
       and (${afterId ?? null}::uuid is null
            or (started_at, id) < (select started_at, id from workers where id = ${afterId ?? null}::uuid))
     order by started_at desc, id desc limit ${limit}`);

/** What each live process knows of the providers that it has called. */
export const listCircuitRows = (db: Queries) =>
  db.all(sql('circuits of processes', { host: 'text', circuits: 'jsonb' })`
    select host, circuits from workers
     where seen_at > now() - interval '35 seconds' and stopped_at is null and circuits <> '{}'
     order by started_at, id`);

/** Of the last day, by state. */
export const countProcesses = (db: Queries) =>
  db.all(sql('count processes', { state: 'text', count: 'int8' })`
    select case when stopped_at is not null then 'stopped'
                when seen_at <= now() - interval '35 seconds' then 'lost'
                when is_draining then 'draining' else 'live' end as state,
           count(*) as count
      from workers where 'worker' = any(roles) group by 1`);

/** No row if there is no such process, or it runs no jobs, or it has ended. */
export const requestDrain = (db: Queries, id: string) =>
  db.one(sql('drain worker', { id: 'uuid' })`
    update workers set is_draining = true
     where id = ${id} and 'worker' = any(roles) and stopped_at is null
       and seen_at > now() - interval '35 seconds'
    returning id`);

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
