// SQL queries for the estimates of encodes: what was expected, how long it took, and which are overdue.
import type { Queries } from '../../platform/postgres/database.ts';
import { definitions, sql } from '../../platform/postgres/sql.ts';
import type { TimeSample } from './learned-speed.ts';

/** Times from now on, in milliseconds. */
export type EncodeEstimate = {
  readonly asset_id: string;
  readonly attempt: number;
  readonly is_long: boolean;
  /** Null if the video plays already. */
  readonly playable_work: number | null;
  readonly ready_work: number;
  readonly latest_ms: number;
  readonly delayed_ms: number;
};

const ESTIMATE = definitions({
  asset_id: 'uuid',
  attempt: 'int4',
  is_long: 'bool',
  playable_work: 'int8?',
  ready_work: 'int8',
  latest_ms: 'int8',
  delayed_ms: 'int8',
});

/** The first estimate of an attempt stays. */
export const recordEstimates = (db: Queries, estimates: readonly EncodeEstimate[]) =>
  db.all(sql('record estimates')`
    insert into encode_estimates as known
           (asset_id, attempt, is_long, playable_work, ready_work, latest_ready_at, delayed_after)
    select asset_id, attempt, is_long, playable_work, ready_work,
           now() + make_interval(secs => latest_ms / 1000.0),
           now() + make_interval(secs => delayed_ms / 1000.0)
      from json_to_recordset(${JSON.stringify(estimates)}::json) as made (${ESTIMATE})
     where not exists (select from encode_estimates as earlier
                        where earlier.asset_id = made.asset_id and earlier.attempt >= made.attempt)
     order by asset_id
    on conflict (asset_id) do update
       set attempt = excluded.attempt, is_long = excluded.is_long, playable_work = excluded.playable_work,
           ready_work = excluded.ready_work, made_at = excluded.made_at,
           latest_ready_at = excluded.latest_ready_at, delayed_after = excluded.delayed_after,
           playable_ms = null, ready_ms = null, ended_at = null
     where known.attempt < excluded.attempt`);

type LengthSamples = {
  readonly playable: readonly TimeSample[];
  readonly ready: readonly TimeSample[];
};

/** As many as the machine and its load stay about the same for. */
const SAMPLES = 40;

/** Of the encodes that ended last. */
export async function findSamples(db: Queries, isLong: boolean): Promise<LengthSamples> {
  const rows = await db.all(sql('find encode samples', {
    playable_work: 'int8?',
    ready_work: 'int8',
    playable_ms: 'int8?',
    ready_ms: 'int8',
  })`
    select playable_work, ready_work, playable_ms, ready_ms from encode_estimates
     where is_long = ${isLong} and ended_at is not null
     order by ended_at desc limit ${SAMPLES}`);
  return {
    ready: rows.map(({ ready_work: work, ready_ms: ms }) => ({ work, ms })),
    playable: rows.flatMap(({ playable_work: work, playable_ms: ms }) =>
      work === null || ms === null ? [] : [{ work, ms }],
    ),
  };
}

/** Of the live workers together, for each kind of encode. */
export const countSlots = async (db: Queries): Promise<number> =>
  (
    await db.one(sql('count encode slots', { slots: 'int8' })`
    select coalesce(sum(encode_slots), 0)::bigint as slots from workers
     where seen_at > now() - interval '35 seconds' and stopped_at is null and not is_draining
       and 'worker' = any(roles)`)
  )?.slots ?? 0;

/** Since when each video is being processed. */
export const findProcessingStarts = async (
  db: Queries,
  assetIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> => {
  const rows = await db.all(sql('find processing starts', {
    asset_id: 'uuid',
    processing_since: 'timestamptz?',
  })`
    select asset_id, processing_since from unfinished_assets where asset_id = any(${assetIds}::uuid[])`);
  return new Map(rows.flatMap(({ asset_id: id, processing_since: at }) => (at ? [[id, at]] : [])));
};

/** Encodes that should have ended, longest overdue first. */
export const findOverdueEstimates = (db: Queries, limit: number) =>
  db.all(sql('find overdue estimates', {
    asset_id: 'uuid',
    attempt: 'int4',
    latest_ready_at: 'timestamptz',
    is_disk_full: 'bool',
  })`
    select asset_id, estimate.attempt, latest_ready_at,
           exists (select from encode_waits as wait
                    where wait.asset_id = estimate.asset_id and wait.attempt = estimate.attempt
                      and checked_at > now() - interval '5 minutes') as is_disk_full
      from encode_estimates as estimate
     where ended_at is null and delayed_after < now()
     order by delayed_after limit ${limit}`);

/** Looked at again later, when the encode may have ended without a result. */
export const postponeEstimates = (db: Queries, assetIds: readonly string[], seconds: number) =>
  db.all(sql('postpone estimates')`
    update encode_estimates set delayed_after = now() + make_interval(secs => ${seconds}::int)
     where asset_id = any(${assetIds}::uuid[]) and ended_at is null`);

export const deleteEstimates = (db: Queries, assetIds: readonly string[]) =>
  db.all(sql('delete estimates')`
    delete from encode_estimates where asset_id = any(${assetIds}::uuid[]) and ended_at is null`);

const KEPT = 500;

export const deleteOldEstimates = (db: Queries, isLong: boolean) =>
  db.all(sql('delete old estimates')`
    delete from encode_estimates
     where is_long = ${isLong}
       and ended_at < (select ended_at from encode_estimates
                        where is_long = ${isLong} and ended_at is not null
                        order by ended_at desc offset ${KEPT} limit 1)`);
