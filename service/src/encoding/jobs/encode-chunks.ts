// Divides the work of an encode run among all workers: one job for each chunk of its video.
import type { FailureCode } from '@mediary/contract/failures';
import type { JobPayloads } from '../../jobs.ts';
import { watchCondition } from '../../platform/concurrency/condition-watch.ts';
import { untilAborted } from '../../platform/concurrency/until-aborted.ts';
import { type ObjectKey, originalKey, renditionFolder } from '../../storage/object-key.ts';
import type { EncodingContext } from '../context.ts';
import { ChunkMismatchError, type ContinueRequest, type EncodedChunk, EncodeError } from '../encoder.ts';
import { type ChunkSpec, estimateChunkBytes } from '../plan/ladder/chunk-plan.ts';
import type { ContinuedRun } from './encode-checkpoints.ts';
import * as queries from './encode-chunks.sql.ts';

type RunRef = { readonly assetId: string; readonly attempt: number; readonly run: number };
type ChunkRef = Omit<JobPayloads['encode-chunk'], 'bytes'>;

export type ClaimedChunk = {
  readonly spec: ChunkSpec;
  /** Starts of this chunk, this one included. */
  readonly claims: number;
  readonly originalKey: ObjectKey;
};

export async function claimChunk(
  { db, worker }: EncodingContext,
  chunk: ChunkRef,
): Promise<ClaimedChunk | undefined> {
  const claimed = await queries.claimChunk(db, chunk, worker.name);
  return (
    claimed && {
      spec: claimed.spec as ChunkSpec,
      claims: claimed.claims,
      originalKey: originalKey({ id: chunk.assetId, original_upload: claimed.original_upload }),
    }
  );
}

/** False when the chunk has ended, or its run has; the worker must stop. */
export const isChunkWanted = async ({ db }: EncodingContext, chunk: ChunkRef): Promise<boolean> =>
  (await queries.findWantedChunk(db, chunk)) !== undefined;

export const releaseChunk = async ({ db }: EncodingContext, chunk: ChunkRef): Promise<void> => {
  await queries.releaseChunk(db, chunk);
};

/** Records the digest of a chunk's init segments. False: another chunk has others, so they would not join. */
export async function recordInit({ db }: EncodingContext, chunk: ChunkRef, digest: string): Promise<boolean> {
  await queries.recordInitDigest(db, chunk, digest);
  return (await queries.findOtherInit(db, chunk, digest)) === undefined;
}

type ChunkEnd =
  | { readonly state: 'done'; readonly result: EncodedChunk }
  | { readonly state: 'failed' | 'refused'; readonly result: ChunkFailure };

/** `log`: the end of ffmpeg's output, for operators. */
type ChunkFailure = {
  readonly code: FailureCode | 'chunk_refused';
  readonly message: string;
  readonly log: string;
};

/** False when the run has ended, or another worker was faster. */
export const finishChunk = async (
  { db }: EncodingContext,
  chunk: ChunkRef,
  { state, result }: ChunkEnd,
): Promise<boolean> =>
  (await queries.finishChunk(db, chunk, { state, result: JSON.stringify(result) })) !== undefined;

/** Enqueues the deletion of what a chunk has stored for a run that was deleted or cancelled. */
export async function discardChunk({ db, jobs }: EncodingContext, run: RunRef): Promise<void> {
  if (await queries.findUsedRun(db, run)) return;
  const folder = renditionFolder(run.attempt, run.run);
  await db.transaction((tx) => jobs.send(tx, 'remove-run-files', { assetId: run.assetId, folder }));
}

/** False when a run of this attempt was refused. */
const canUseChunks = async ({ db }: EncodingContext, { assetId, attempt }: RunRef): Promise<boolean> =>
  (await queries.findRefusedChunk(db, assetId, attempt)) === undefined;

/**
 * Deletes the chunks of the run, or of the whole attempt, and of all earlier ones: a job that is late leaves
 * those of the next. `keepsRefused`: keeps the note that this attempt must encode its video in one piece.
 */
export const deleteChunks = async (
  { db }: EncodingContext,
  { assetId, attempt, run }: Omit<RunRef, 'run'> & Partial<RunRef>,
  { keepsRefused = false } = {},
): Promise<void> => {
  await queries.deleteChunks(db, { assetId, attempt, ...(run !== undefined && { run }) }, keepsRefused);
};

type ChunkBatch = {
  readonly batch: number;
  readonly specs: readonly ChunkSpec[];
  readonly onDone: (frames: number) => void;
  readonly signal: AbortSignal;
};

/**
 * Enqueues the chunks, unless an earlier worker of the run has, and waits for their end. Throws EncodeError
 * or ChunkMismatchError when one fails.
 */
async function encodeChunks(
  ctx: EncodingContext,
  run: RunRef,
  { batch, specs, onDone, signal }: ChunkBatch,
): Promise<readonly EncodedChunk[]> {
  const { assetId, attempt, run: number } = run;
  const key = { assetId, attempt, run: number, batch };
  await sendChunks(ctx, key, specs);
  try {
    await waitForChunks(ctx, key, {
      signal,
      onStates: (states) => {
        const done = states.filter(({ state }) => state === 'done');
        onDone(done.reduce((frames, each) => frames + (specs[each.number]?.chunk.frames ?? 0), 0));
      },
    });
  } catch (error) {
    // The workers of the other chunks stop. Otherwise another worker continues the run with its chunks.
    const isEnd = error instanceof EncodeError || error instanceof ChunkMismatchError;
    if (isEnd) await deleteChunks(ctx, run, { keepsRefused: true });
    throw error;
  }
  const results = await queries.findChunkResults(ctx.db, key);
  if (results.length !== specs.length) throw new Error('the chunks of a run were deleted');
  return results.map(({ result }) => result as EncodedChunk);
}

type BatchRef = RunRef & { readonly batch: number };

async function sendChunks(
  { db, jobs, lifecycle }: EncodingContext,
  batch: BatchRef,
  specs: readonly ChunkSpec[],
): Promise<void> {
  const asset = await lifecycle.findAssetById(batch.assetId);
  if (!asset) throw new Error('the asset of a run does not exist');
  const areJobsOpen = await jobs.hasOpenJob('encode-chunk', batch);
  await db.transaction(async (tx) => {
    const inserted = await queries.insertChunks(tx, batch, JSON.stringify(specs));
    const added = new Set(inserted.map(({ number }) => number));
    for (const [number, spec] of specs.entries())
      if (added.has(number) || !areJobsOpen)
        await jobs.sendFor(tx, asset.owner_user_id, {
          name: 'encode-chunk',
          payload: { ...batch, number, bytes: estimateChunkBytes(spec) },
        });
  });
}

type ChunkState = Awaited<ReturnType<typeof queries.findChunkStates>>[number];
type Waiting = {
  readonly signal: AbortSignal;
  readonly onStates: (states: readonly ChunkState[]) => void;
};

/** Each state is read once a second. */
const READS_PER_CHECK = 30;

async function waitForChunks(
  ctx: EncodingContext,
  batch: BatchRef,
  { signal, onStates }: Waiting,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let [reads, areJobsMissing] = [0, false];
  const isWaiting = async (): Promise<boolean> => {
    const states = await queries.findChunkStates(ctx.db, batch);
    onStates(states);
    const failed = states.find(({ failure }) => failure !== null);
    if (failed) ended.reject(toError(failed));
    if (failed || states.every(({ state }) => state === 'done')) return false;
    reads += 1;
    if (reads % READS_PER_CHECK > 0 && !areJobsMissing) return true;
    const wereMissing = areJobsMissing;
    areJobsMissing = !(await ctx.jobs.hasOpenJob('encode-chunk', batch));
    // The last job may have ended after the states were read, so they are read once more.
    if (!areJobsMissing || !wereMissing) return true;
    ended.reject(new Error('the jobs of the chunks have ended, but not the chunks'));
    return false;
  };
  const watch = watchCondition(isWaiting, {
    onEnd: ended.resolve,
    onError: (error) =>
      ctx.log.warn({ asset_id: batch.assetId, err: error }, 'the states of the chunks cannot be read'),
  });
  try {
    await untilAborted(ended.promise, signal);
  } finally {
    watch.close();
  }
}

function toError({ state, failure }: ChunkState): Error {
  const { code, message, log } = failure as ChunkFailure;
  if (state === 'refused' || code === 'chunk_refused') return new ChunkMismatchError(message);
  return new EncodeError(code, message, log);
}

type ChunkedEncode = {
  readonly request: Pick<ContinueRequest, 'chunkSeconds' | 'encodeChunks'>;
  /** When no worker stores a chunk of the run any more. */
  readonly storedUntil: () => Date | undefined;
};

/** The workers of chunks whose run has failed stop within two seconds. */
const CHUNK_END_MS = 60_000;

/** The shortest length of a chunk; undefined: the video is encoded in one piece. */
export const findChunkSeconds = async (ctx: EncodingContext, run: RunRef): Promise<number | undefined> =>
  ctx.settings.encodeChunkSeconds > 0 && (await canUseChunks(ctx, run))
    ? ctx.settings.encodeChunkSeconds
    : undefined;

export async function prepareChunks(
  ctx: EncodingContext,
  run: ContinuedRun,
  signal: AbortSignal,
): Promise<ChunkedEncode> {
  const chunkSeconds = run.checkpoint.isDividable ? await findChunkSeconds(ctx, run) : undefined;
  if (chunkSeconds === undefined) return { request: {}, storedUntil: () => undefined };
  let batches = 0;
  return {
    request: {
      chunkSeconds,
      encodeChunks: (specs, onDone) => encodeChunks(ctx, run, { batch: batches++, specs, onDone, signal }),
    },
    storedUntil: () => (batches > 0 ? new Date(Date.now() + CHUNK_END_MS) : undefined),
  };
}
