// Job that cuts a clip from the original of its source, stores it as its original and completes the upload.
import { createReadStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Asset, Failure } from '../../assets/asset.ts';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import { EncodeError, type Encoder } from '../../encoding/encoder.ts';
import { excerptFfmpegLog } from '../../encoding/ffmpeg-log.ts';
import type { JobPayloads, ServiceJobs } from '../../jobs.ts';
import { findMediaType, type MediaType } from '../../media/media-type.ts';
import type { Bound, BoundOperations } from '../../platform/bind.ts';
import { watchCondition } from '../../platform/concurrency/condition-watch.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import { SPACE_RETRY_MS, type ScratchReservations } from '../../platform/process/scratch-reservations.ts';
import type { findLocalFile } from '../../storage/local-file.ts';
import { originalKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { toClipFailure, toCutFailure, toClipStoreFailure } from './clip-failure.ts';
import { estimateClipBytes } from './clip-request.ts';
import type * as runOperations from './clip-runs.ts';
import type { ClipRun } from './clip-runs.ts';
import type { storeOriginal } from '../original/store-original.ts';

export type ClipJobNeeds = BoundOperations<typeof runOperations> & {
  readonly db: Pick<Database, 'transaction'>;
  readonly jobs: Pick<ServiceJobs, 'sendFor'>;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly findLocalFile: Bound<typeof findLocalFile>;
  readonly storeOriginal: Bound<typeof storeOriginal>;
  readonly store: Pick<ObjectStore, 'localFile'>;
  readonly encoder: Pick<Encoder, 'cut'>;
  readonly scratchRoot: string;
  readonly scratchReservations: ScratchReservations;
  readonly maxUploadBytes: number;
  readonly now: () => Date;
  readonly log: { warn(facts: object, message: string): void };
};

/** Limit of runs that ended with a crash of their worker. */
const MAX_RUNS = 10;

type Job = JobPayloads['clip-asset'];
type Outcome = { readonly stored: Asset } | { readonly failure: Failure } | 'over';

export const clipAssetJob =
  (needs: ClipJobNeeds) =>
  async ({ payload, signal }: JobRun<Job>): Promise<void> => {
    const neededBytes = await estimateBytes(needs, payload);
    const freeBytes = await needs.scratchReservations.runWithin(neededBytes, () =>
      runClip(needs, payload, signal),
    );
    if (freeBytes !== undefined) await postpone(needs, payload, { neededBytes, freeBytes });
  };

async function runClip(needs: ClipJobNeeds, job: Job, signal: AbortSignal): Promise<void> {
  const run = await needs.beginClip(job);
  if (!run) return;
  const outcome = await execute(needs, run, signal);
  if (outcome === 'over') return;
  if ('stored' in outcome) return needs.completeClip(outcome.stored);
  const { id, attempt } = run.asset;
  needs.log.warn({ asset_id: id, attempt, code: outcome.failure.code }, 'a clip failed');
  await needs.failClip(run, outcome.failure);
}

async function execute(needs: ClipJobNeeds, run: ClipRun, signal: AbortSignal): Promise<Outcome> {
  // An earlier run stored the bytes and could not complete them.
  if (run.asset.uploaded_at) return { stored: run.asset };
  if (run.runs > MAX_RUNS) return { failure: toClipFailure('clip_failed') };
  return cutAndStore(needs, run, signal);
}

/** Ends within seconds when the clip or its source is deleted. */
async function cutAndStore(needs: ClipJobNeeds, run: ClipRun, signal: AbortSignal): Promise<Outcome> {
  const over = new AbortController();
  const watch = watchCondition(async () => (await needs.findClipState(run)) === 'current', {
    onEnd: () => over.abort(),
    onError: (err) => needs.log.warn({ asset_id: run.asset.id, err }, 'the state of a clip is not known'),
  });
  const scratch = await createScratchFolder(needs.scratchRoot, {
    work: `clip-${run.asset.id}`,
    run: run.uploadId,
  });
  try {
    return await cut(needs, run, { scratch, signal: AbortSignal.any([signal, over.signal]) });
  } catch (error) {
    if (signal.aborted) throw new Error('the cut was interrupted');
    return await toOutcome(needs, run, error);
  } finally {
    watch.close();
    await deleteScratchFolder(scratch);
  }
}

/** A deletion may make a read or a write fail before the watch notices it. */
async function toOutcome(needs: ClipJobNeeds, run: ClipRun, error: unknown): Promise<Outcome> {
  const state = await needs.findClipState(run);
  if (state === 'over') return 'over';
  if (state === 'source_deleted') return { failure: toClipFailure('clip_source_deleted') };
  if (error instanceof EncodeError) {
    const facts = { asset_id: run.asset.id, code: error.code, ffmpeg_log: excerptFfmpegLog(error.log) };
    needs.log.warn(facts, 'a clip cannot be cut');
    return { failure: toCutFailure(error) };
  }
  const failure = toClipStoreFailure(error);
  if (!failure) throw error;
  return { failure };
}

type Work = { readonly scratch: string; readonly signal: AbortSignal };

async function cut(needs: ClipJobNeeds, run: ClipRun, { scratch, signal }: Work): Promise<Outcome> {
  const { asset, clipOf, uploadId } = run;
  const source = await needs.findAssetById(clipOf.id);
  if (!source || source.deleted_at) return { failure: toClipFailure('clip_source_deleted') };
  const copy = { path: join(scratch, 'original'), signal };
  const original = await needs.findLocalFile(originalKey(source), copy);
  if (!original) return { failure: toClipFailure('clip_source_deleted') };
  const workFolder = join(scratch, 'work');
  await mkdir(workFolder);
  const { path, droppedSubtitles } = await needs.encoder.cut({
    source: original.path,
    container: (findMediaType(source.mime_type) as Extract<MediaType, { kind: 'video' }>).container,
    workFolder,
    startMs: clipOf.start_ms,
    endMs: clipOf.end_ms,
    maxBytes: needs.maxUploadBytes,
    signal,
  });
  if (droppedSubtitles.length > 0)
    needs.log.warn({ asset_id: asset.id, languages: droppedSubtitles }, 'a clip lacks subtitles');
  signal.throwIfAborted();
  const { size: length } = await stat(path);
  const bytes = createReadStream(path, { highWaterMark: 1024 * 1024, signal });
  return { stored: await needs.storeOriginal(asset, { uploadId, protocol: 'clip', length, bytes }) };
}

/** 0 for a clip that is not to be cut any more. */
async function estimateBytes(needs: ClipJobNeeds, job: Job): Promise<number> {
  const asset = await needs.findAwaitingClip(job);
  const source = asset && (await needs.findAssetById(asset.clip_of.id));
  return source ? estimateClipBytes(source, asset.clip_of, { isCopied: !needs.store.localFile }) : 0;
}

type Space = { readonly neededBytes: number; readonly freeBytes: number };

/** Sends a new job, because a failed job has a limited number of retries. */
async function postpone(needs: ClipJobNeeds, payload: Job, space: Space): Promise<void> {
  const asset = await needs.findAssetById(payload.assetId);
  if (!asset) return;
  const facts = { needed_bytes: space.neededBytes, free_bytes: space.freeBytes };
  needs.log.warn({ asset_id: asset.id, ...facts }, 'a clip waits for space in the scratch folder');
  const startAfter = new Date(needs.now().getTime() + SPACE_RETRY_MS);
  await needs.db.transaction((tx) =>
    needs.jobs.sendFor(tx, asset.owner_user_id, { name: 'clip-asset', payload, startAfter }),
  );
}
