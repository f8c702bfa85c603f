// Job that cuts a clip from the original of its source, stores it as its original and completes the upload.
import { createReadStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Asset, Failure } from '../../assets/asset.ts';
import { EncodeError } from '../../encoding/encoder.ts';
import { excerptFfmpegLog } from '../../encoding/ffmpeg-log.ts';
import type { JobPayloads } from '../../jobs.ts';
import { findMediaType, type MediaType } from '@mediary/media-rules/media-type';
import { watchCondition } from '../../platform/concurrency/condition-watch.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import { SPACE_RETRY_MS } from '../../platform/process/scratch-reservations.ts';
import { originalKey } from '../../storage/object-key.ts';
import type { UploadsContext } from '../context.ts';
import { storeOriginal } from '../original/store-original.ts';
import { uncountOutage } from '../service-runs.ts';
import { toClipFailure, toClipStoreFailure, toCutFailure } from './clip-failure.ts';
import { estimateClipBytes } from './clip-request.ts';
import {
  beginClip,
  type ClipRun,
  completeClip,
  failClip,
  findAwaitingClip,
  findClipState,
  recordSpaceWait,
  type Space,
  uncountRun,
} from './clip-runs.ts';

/** Limit of runs that ended with a crash of their worker. */
const MAX_RUNS = 10;

type Job = JobPayloads['clip-asset'];
type ClipEnd = { readonly stored: Asset } | { readonly failure: Failure } | 'over';

export const clipAssetJob =
  (ctx: UploadsContext) =>
  async ({ payload, signal }: JobRun<Job>): Promise<void> => {
    const neededBytes = await estimateBytes(ctx, payload);
    const freeBytes = await ctx.worker.scratchReservations.runWithin(neededBytes, () =>
      runClip(ctx, payload, signal),
    );
    if (freeBytes !== undefined) await postpone(ctx, payload, { neededBytes, freeBytes });
  };

async function runClip(ctx: UploadsContext, job: Job, signal: AbortSignal): Promise<void> {
  const run = await beginClip(ctx, job);
  if (!run) return;
  const outcome = await execute(ctx, run, signal);
  if (outcome === 'over') return;
  if ('stored' in outcome) return completeClip(ctx, outcome.stored);
  const { id, attempt } = run.asset;
  ctx.log.warn({ asset_id: id, attempt, code: outcome.failure.code }, 'a clip failed');
  await failClip(ctx, run, outcome.failure);
}

async function execute(ctx: UploadsContext, run: ClipRun, signal: AbortSignal): Promise<ClipEnd> {
  // An earlier run stored the bytes and could not complete them.
  if (run.asset.uploaded_at) return { stored: run.asset };
  if (run.runs > MAX_RUNS) return { failure: toClipFailure('clip_failed') };
  return cutAndStore(ctx, run, signal);
}

/** Ends within seconds when the clip or its source is deleted. */
async function cutAndStore(ctx: UploadsContext, run: ClipRun, signal: AbortSignal): Promise<ClipEnd> {
  const over = new AbortController();
  const watch = watchCondition(async () => (await findClipState(ctx, run)) === 'current', {
    onEnd: () => over.abort(),
    onError: (err) => ctx.log.warn({ asset_id: run.asset.id, err }, 'the state of a clip is not known'),
  });
  const scratch = await createScratchFolder(ctx.worker.scratchRoot, {
    work: `clip-${run.asset.id}`,
    run: run.uploadId,
  });
  try {
    return await cut(ctx, run, { scratch, signal: AbortSignal.any([signal, over.signal]) });
  } catch (error) {
    if (signal.aborted) throw new Error('the cut was interrupted');
    return await toOutcome(ctx, run, error);
  } finally {
    watch.close();
    await deleteScratchFolder(scratch);
  }
}

/** A deletion may make a read or a write fail before the watch notices it. */
async function toOutcome(ctx: UploadsContext, run: ClipRun, error: unknown): Promise<ClipEnd> {
  const state = await findClipState(ctx, run);
  if (state === 'over') return 'over';
  if (state === 'source_deleted') return { failure: toClipFailure('clip_source_deleted') };
  if (error instanceof EncodeError) {
    const facts = { asset_id: run.asset.id, code: error.code, ffmpeg_log: excerptFfmpegLog(error.log) };
    ctx.log.warn(facts, 'a clip cannot be cut');
    return { failure: toCutFailure(error) };
  }
  const failure = toClipStoreFailure(error);
  if (failure) return { failure };
  await uncountOutage(error, () => uncountRun(ctx, run));
  throw error;
}

type CutFiles = { readonly scratch: string; readonly signal: AbortSignal };

async function cut(ctx: UploadsContext, run: ClipRun, { scratch, signal }: CutFiles): Promise<ClipEnd> {
  const { asset, clipOf, uploadId } = run;
  const source = await ctx.lifecycle.findAssetById(clipOf.id);
  if (!source || source.deleted_at) return { failure: toClipFailure('clip_source_deleted') };
  const copy = { path: join(scratch, 'original'), signal };
  const original = await ctx.worker.findLocalFile(originalKey(source), copy);
  if (!original) return { failure: toClipFailure('clip_source_deleted') };
  const workFolder = join(scratch, 'work');
  await mkdir(workFolder);
  const { path, droppedSubtitles } = await ctx.worker.encoder.cut({
    source: original.path,
    container: (findMediaType(source.mime_type) as Extract<MediaType, { kind: 'video' }>).container,
    workFolder,
    startMs: clipOf.start_ms,
    endMs: clipOf.end_ms,
    maxBytes: ctx.settings.maxUploadBytes,
    signal,
  });
  if (droppedSubtitles.length > 0)
    ctx.log.warn({ asset_id: asset.id, languages: droppedSubtitles }, 'a clip lacks subtitles');
  signal.throwIfAborted();
  const { size: length } = await stat(path);
  const bytes = createReadStream(path, { highWaterMark: 1024 * 1024, signal });
  return { stored: await storeOriginal(ctx, asset, { uploadId, protocol: 'clip', length, bytes }) };
}

/** 0 for a clip that is not to be cut any more. */
async function estimateBytes(ctx: UploadsContext, job: Job): Promise<number> {
  const asset = await findAwaitingClip(ctx, job);
  const source = asset && (await ctx.lifecycle.findAssetById(asset.clip_of.id));
  return source ? estimateClipBytes(source, asset.clip_of, { isCopied: !ctx.store.localFile }) : 0;
}

/** Sends a new job, because a failed job has a limited number of retries. */
async function postpone(ctx: UploadsContext, payload: Job, space: Space): Promise<void> {
  const asset = await ctx.lifecycle.findAssetById(payload.assetId);
  if (!asset) return;
  await recordSpaceWait(ctx, asset, space);
  const startAfter = new Date(ctx.clocks.now().getTime() + SPACE_RETRY_MS);
  await ctx.db.transaction((tx) =>
    ctx.jobs.sendFor(tx, asset.owner_user_id, { name: 'clip-asset', payload, startAfter }),
  );
}
