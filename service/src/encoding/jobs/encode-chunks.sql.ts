// SQL queries for the chunks of an encode run.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

type RunKey = { readonly assetId: string; readonly attempt: number; readonly run: number };
type BatchKey = RunKey & { readonly batch: number };
type ChunkKey = BatchKey & { readonly number: number };

/** `specs`: a JSON array, in the order of the numbers. Returns those that are new. */
export const insertChunks = (db: Queries, batch: BatchKey, specs: string) =>
  db.all(sql('insert chunks', { number: 'int4' })`
    insert into encode_chunks (asset_id, attempt, run, batch, number, spec)
    select ${batch.assetId}::uuid, ${batch.attempt}::int, ${batch.run}::int, ${batch.batch}::int,
           place - 1, spec
      from jsonb_array_elements(${specs}::jsonb) with ordinality as given (spec, place)
    on conflict do nothing
    returning number`);

/** Undefined when the chunk needs no work: it has ended, or its run may no longer publish. */
export const claimChunk = (db: Queries, chunk: ChunkKey, worker: string) =>
  db.one(sql('claim chunk', { spec: 'jsonb', claims: 'int4', original_upload: 'uuid?' })`
    update encode_chunks as chunk set claims = claims + 1, worker = ${worker}
      from assets
     where chunk.asset_id = ${chunk.assetId} and chunk.attempt = ${chunk.attempt}
       and chunk.run = ${chunk.run} and batch = ${chunk.batch} and number = ${chunk.number}
       and state = 'waiting'
       and assets.id = chunk.asset_id and assets.attempt = chunk.attempt and encode_run = chunk.run
       and encoded_run = 0 and stream_status = 'processing' and deleted_at is null
    returning spec, claims, original_upload`);

/** An interruption that is no failure of the chunk does not count. */
export const releaseChunk = (db: Queries, chunk: ChunkKey) =>
  db.all(sql('release chunk')`
    update encode_chunks set claims = claims - 1
     where asset_id = ${chunk.assetId} and attempt = ${chunk.attempt} and run = ${chunk.run}
       and batch = ${chunk.batch} and number = ${chunk.number} and state = 'waiting' and claims > 0`);

/** The first digest of a chunk stays: segments of an interrupted run may be stored already. */
export const recordInitDigest = (db: Queries, chunk: ChunkKey, digest: string) =>
  db.all(sql('record init digest')`
    update encode_chunks set init_digest = coalesce(init_digest, ${digest})
     where asset_id = ${chunk.assetId} and attempt = ${chunk.attempt} and run = ${chunk.run}
       and batch = ${chunk.batch} and number = ${chunk.number}`);

export const findOtherInit = (db: Queries, batch: BatchKey, digest: string) =>
  db.one(sql('find other init', { number: 'int4' })`
    select number from encode_chunks
     where asset_id = ${batch.assetId} and attempt = ${batch.attempt} and run = ${batch.run}
       and batch = ${batch.batch} and init_digest <> ${digest} limit 1`);

type ChunkEnd = { readonly state: string; readonly result: string };

/** Undefined when the chunk has ended before, or its run has. */
export const finishChunk = (db: Queries, chunk: ChunkKey, { state, result }: ChunkEnd) =>
  db.one(sql('finish chunk', { number: 'int4' })`
    update encode_chunks set state = ${state}, result = ${result}::jsonb
     where asset_id = ${chunk.assetId} and attempt = ${chunk.attempt} and run = ${chunk.run}
       and batch = ${chunk.batch} and number = ${chunk.number} and state = 'waiting'
    returning number`);

/** In their order; `failure` of those that cannot be encoded. */
export const findChunkStates = (db: Queries, batch: BatchKey) =>
  db.all(sql('find chunk states', { number: 'int4', state: 'text', failure: 'jsonb?' })`
    select number, state, case when state in ('failed', 'refused') then result end as failure
      from encode_chunks
     where asset_id = ${batch.assetId} and attempt = ${batch.attempt} and run = ${batch.run}
       and batch = ${batch.batch}
     order by number`);

export const findChunkResults = (db: Queries, batch: BatchKey) =>
  db.all(sql('find chunk results', { result: 'jsonb' })`
    select result from encode_chunks
     where asset_id = ${batch.assetId} and attempt = ${batch.attempt} and run = ${batch.run}
       and batch = ${batch.batch} and state = 'done'
     order by number`);

/** A run of the attempt that found out that the video must be encoded in one piece. */
export const findRefusedChunk = (db: Queries, assetId: string, attempt: number) =>
  db.one(sql('find refused chunk', { number: 'int4' })`
    select number from encode_chunks
     where asset_id = ${assetId} and attempt = ${attempt} and state = 'refused' limit 1`);

type EndedRuns = Omit<RunKey, 'run'> & {
  /** Undefined: all runs of the attempt. */
  readonly run?: number;
};

/** Of these runs and of earlier attempts. `keepsRefused`: keeps the refused chunks of this attempt. */
export const deleteChunks = (db: Queries, { assetId, attempt, run }: EndedRuns, keepsRefused: boolean) =>
  db.all(sql('delete chunks')`
    delete from encode_chunks
     where asset_id = ${assetId} and (attempt, run) <= (${attempt}::int, coalesce(${run ?? null}::int, run))
       and not (${keepsRefused}::boolean and state = 'refused' and attempt = ${attempt}::int)`);

/** A row while the chunk needs its worker: it has not ended, and its run may publish. */
export const findWantedChunk = (db: Queries, chunk: ChunkKey) =>
  db.one(sql('find wanted chunk', { number: 'int4' })`
    select number from encode_chunks as chunk
      join assets on assets.id = chunk.asset_id and assets.attempt = chunk.attempt and encode_run = chunk.run
     where chunk.asset_id = ${chunk.assetId} and chunk.attempt = ${chunk.attempt}
       and chunk.run = ${chunk.run} and batch = ${chunk.batch} and number = ${chunk.number}
       and state = 'waiting' and encoded_run = 0 and stream_status = 'processing' and deleted_at is null`);

/** A row while the files of the run may be needed: it may still publish them, or has done so. */
export const findUsedRun = (db: Queries, run: RunKey) =>
  db.one(sql('find used run', { id: 'uuid' })`
    select id from assets
     where id = ${run.assetId} and attempt = ${run.attempt}
       and (encoded_run = ${run.run} and stream_status <> 'failed'
            or stream_status = 'processing' and deleted_at is null)`);
