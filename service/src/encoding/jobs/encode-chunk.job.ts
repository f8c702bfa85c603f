// Job that encodes a chunk of a long video and stores its segments, for the run that owns the video.
import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { JobPayloads } from '../../jobs.ts';
import { runClaimedJob } from '../../platform/jobs/claimed-job.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { inScratchFolder } from '../../platform/process/scratch-folder.ts';
import { renditionFolder, renditionKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { readBytes } from '../../storage/whole-objects.ts';
import type { EncodingContext } from '../context.ts';
import { ChunkMismatchError, type EncodedChunk, EncodeError } from '../encoder.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';
import { type CmafSegment, readSegmentHead } from '../model/cmaf-track.ts';
import { SEGMENT_HEAD_BYTES } from '../model/mp4-boxes.ts';
import {
  claimChunk,
  type ClaimedChunk,
  discardChunk,
  finishChunk,
  isChunkWanted,
  recordInit,
  releaseChunk,
} from './encode-chunks.ts';
import { isInterruption, storeFiles } from './run-files.ts';

type ChunkRef = JobPayloads['encode-chunk'];
type ChunkEnd = Parameters<typeof finishChunk>[2];

/** Limit of claims that ended with a crash of their worker. */
const MAX_CLAIMS = 10;
const CRASHED: ChunkEnd = {
  state: 'failed',
  result: {
    code: 'encoder_crashed',
    message: 'The encoder crashed repeatedly while encoding this video',
    log: '',
  },
};

export const encodeChunkJob =
  (ctx: EncodingContext) =>
  async ({ payload, signal }: JobRun<ChunkRef>): Promise<void> => {
    const claimed = await claimChunk(ctx, payload);
    if (!claimed) return;
    if (claimed.claims > MAX_CLAIMS) {
      await finishChunk(ctx, payload, CRASHED);
      return;
    }
    await runClaimedJob({
      signal,
      isCurrent: () => isChunkWanted(ctx, payload),
      onCheckError: (error) =>
        ctx.log.warn(
          { asset_id: payload.assetId, err: error },
          'the worker cannot check whether its chunk is still needed',
        ),
      work: async (run) => {
        const end = await encodeClaimed(ctx, payload, { claimed, signal: run.signal });
        if (!(await finishChunk(ctx, payload, end))) await discardChunk(ctx, payload);
      },
      discard: () => discardChunk(ctx, payload),
      fail: async (error, isStopped) => {
        if (isStopped || isInterruption(error)) await releaseChunk(ctx, payload);
      },
    });
  };

type ClaimedEncode = { readonly claimed: ClaimedChunk; readonly signal: AbortSignal };

/** How the chunk ends: errors that a retry may not have are thrown. */
async function encodeClaimed(ctx: EncodingContext, ref: ChunkRef, chunk: ClaimedEncode): Promise<ChunkEnd> {
  const startedAt = performance.now();
  const facts = { asset_id: ref.assetId, batch: ref.batch, chunk: ref.number, worker: ctx.worker.name };
  try {
    const result = await encodeAndStore(ctx, ref, chunk);
    const seconds = (performance.now() - startedAt) / 1000;
    ctx.log.info({ ...facts, seconds }, 'a chunk of a video was encoded');
    return { state: 'done', result };
  } catch (error) {
    if (!(error instanceof EncodeError || error instanceof ChunkMismatchError)) throw error;
    const { code, log } = error instanceof EncodeError ? error : { code: 'chunk_refused' as const, log: '' };
    ctx.log.warn(
      { ...facts, code, reason: error.message, ffmpeg_log: excerptFfmpegLog(log) },
      'a chunk of a video cannot be encoded',
    );
    // A file without a usable index may be searched from its start for each chunk.
    const isRefused = error instanceof ChunkMismatchError || code === 'timed_out';
    return { state: isRefused ? 'refused' : 'failed', result: { code, message: error.message, log } };
  }
}

async function encodeAndStore(
  ctx: EncodingContext,
  ref: ChunkRef,
  { claimed, signal }: ClaimedEncode,
): Promise<EncodedChunk> {
  const place = `${ref.run}-${ref.batch}-${ref.number}`;
  const scratch = {
    work: `chunk-${ref.assetId}-${place}`,
    run: renditionFolder(ref.attempt, claimed.claims),
  };
  return inScratchFolder(ctx.worker.scratchRoot, scratch, async (folder) => {
    const original = await ctx.worker.originals.open(claimed.originalKey, signal);
    try {
      if (!original.file) throw new EncodeError('original_missing', FAILURE_CODES.original_missing);
      const workFolder = join(folder, 'work');
      await mkdir(workFolder);
      const { spec } = claimed;
      const request = { source: original.file.path, workFolder, spec, signal };
      const tracks = await ctx.encoder.encodeChunk(request);
      return await storeChunk(ctx, ref, { tracks, workFolder, signal });
    } finally {
      original.release();
    }
  });
}

type EncodedFiles = {
  readonly tracks: EncodedChunk;
  readonly workFolder: string;
  readonly signal: AbortSignal;
};

/**
 * Objects are never overwritten: the segments of an interrupted run are used as they are. They have the same
 * frames, and the same init segment, or the chunk is refused.
 */
async function storeChunk(
  ctx: EncodingContext,
  ref: ChunkRef,
  { tracks, workFolder, signal }: EncodedFiles,
): Promise<EncodedChunk> {
  const digest = hash('sha256', JSON.stringify(tracks.map(({ id, init }) => [id, init])));
  if (!(await recordInit(ctx, ref, digest)))
    throw new ChunkMismatchError('the chunk has another init segment than the others');
  const segments = new Map(
    tracks.flatMap((track) => track.segments.map((segment) => [segment.name, segment] as const)),
  );
  await storeFiles(ctx.store, ref, {
    files: [...segments.keys()].map((name) => ({ name, path: join(workFolder, name) })),
    signal,
    onExisting: async ({ name }) => {
      segments.set(name, await readStored(ctx.store, ref, segments.get(name) as CmafSegment));
    },
  });
  return tracks.map((track) => ({
    ...track,
    segments: track.segments.map((segment) => segments.get(segment.name) ?? segment),
  }));
}

async function readStored(store: ObjectStore, ref: ChunkRef, own: CmafSegment): Promise<CmafSegment> {
  const key = renditionKey(ref.assetId, renditionFolder(ref.attempt, ref.run), own.name);
  const bytes = (await store.size(key)) ?? 0;
  const range = { start: 0, end: Math.min(bytes, SEGMENT_HEAD_BYTES) - 1 };
  const stored = readSegmentHead(await readBytes(store, key, range), { isOfVideo: true });
  if (stored.start !== own.start || stored.duration !== own.duration)
    throw new ChunkMismatchError(`the stored segment ${own.name} has other times`);
  return { name: own.name, bytes, ...stored };
}
