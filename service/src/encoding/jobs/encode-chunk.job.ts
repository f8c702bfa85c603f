// Job that encodes a chunk of a long video and stores its segments, for the run that owns the video.
import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { JobPayloads } from '../../jobs.ts';
import { watchCondition } from '../../platform/concurrency/condition-watch.ts';
import type { BoundOperations } from '../../platform/bind.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import { renditionFolder, renditionKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { readBytes } from '../../storage/whole-objects.ts';
import { ChunkMismatchError, type EncodedChunk, EncodeError, type Encoder } from '../encoder.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';
import { type CmafSegment, readSegmentHead } from '../packaging/cmaf-track.ts';
import { SEGMENT_HEAD_BYTES } from '../packaging/mp4-boxes.ts';
import type * as chunkOperations from './encode-chunks.ts';
import type { ClaimedChunk } from './encode-chunks.ts';
import { isInterruption, storeFiles } from './run-files.ts';
import type { SharedOriginals } from './shared-originals.ts';

type ChunkNeeds = Omit<BoundOperations<typeof chunkOperations>, 'encodeChunks' | 'canUseChunks'> & {
  readonly originals: SharedOriginals;
  readonly store: ObjectStore;
  readonly encoder: Pick<Encoder, 'encodeChunk'>;
  readonly scratchRoot: string;
  readonly workerName: string;
  readonly log: Record<'info' | 'warn', (facts: object, message: string) => void>;
};

type ChunkRef = JobPayloads['encode-chunk'];
type ChunkEnd = Parameters<ChunkNeeds['finishChunk']>[1];

/** Limit of tries that ended with a crash of their worker. */
const MAX_TRIES = 10;
const CRASHED: ChunkEnd = {
  state: 'failed',
  result: {
    code: 'encoder_crashed',
    message: 'The encoder crashed repeatedly while encoding this video',
    log: '',
  },
};

export const encodeChunkJob =
  (needs: ChunkNeeds) =>
  async ({ payload, signal }: JobRun<ChunkRef>): Promise<void> => {
    const claimed = await needs.claimChunk(payload);
    if (!claimed) return;
    if (claimed.tries > MAX_TRIES) {
      await needs.finishChunk(payload, CRASHED);
      return;
    }
    const superseded = new AbortController();
    const watch = watchCondition(() => needs.isChunkWanted(payload), {
      onEnd: () => superseded.abort(),
      onError: (error) =>
        needs.log.warn(
          { asset_id: payload.assetId, err: error },
          'the worker cannot check whether its chunk is still needed',
        ),
    });
    try {
      const end = await encodeClaimed(needs, payload, {
        claimed,
        signal: AbortSignal.any([signal, superseded.signal]),
      });
      if (!(await needs.finishChunk(payload, end))) await needs.discardChunk(payload);
    } catch (error) {
      // A deletion may make a write fail before the watch notices it.
      if (superseded.signal.aborted || !(await needs.isChunkWanted(payload)))
        return await needs.discardChunk(payload);
      if (signal.aborted || isInterruption(error)) await needs.releaseChunk(payload);
      throw error;
    } finally {
      watch.close();
    }
  };

type ClaimedWork = { readonly claimed: ClaimedChunk; readonly signal: AbortSignal };

/** How the chunk ends: errors that a retry may not have are thrown. */
async function encodeClaimed(needs: ChunkNeeds, ref: ChunkRef, work: ClaimedWork): Promise<ChunkEnd> {
  const startedAt = performance.now();
  const facts = { asset_id: ref.assetId, batch: ref.batch, chunk: ref.number, worker: needs.workerName };
  try {
    const result = await encodeAndStore(needs, ref, work);
    const seconds = (performance.now() - startedAt) / 1000;
    needs.log.info({ ...facts, seconds }, 'a chunk of a video was encoded');
    return { state: 'done', result };
  } catch (error) {
    if (!(error instanceof EncodeError || error instanceof ChunkMismatchError)) throw error;
    const { code, log } = error instanceof EncodeError ? error : { code: 'chunk_refused' as const, log: '' };
    needs.log.warn(
      { ...facts, code, reason: error.message, ffmpeg_log: excerptFfmpegLog(log) },
      'a chunk of a video cannot be encoded',
    );
    // A file without a usable index may be searched from its start for each chunk.
    const isRefused = error instanceof ChunkMismatchError || code === 'timed_out';
    return { state: isRefused ? 'refused' : 'failed', result: { code, message: error.message, log } };
  }
}

async function encodeAndStore(
  needs: ChunkNeeds,
  ref: ChunkRef,
  { claimed, signal }: ClaimedWork,
): Promise<EncodedChunk> {
  const place = `${ref.try}-${ref.batch}-${ref.number}`;
  const scratch = await createScratchFolder(needs.scratchRoot, {
    work: `chunk-${ref.assetId}-${place}`,
    run: renditionFolder(ref.attempt, claimed.tries),
  });
  try {
    const original = await needs.originals.open(claimed.originalKey, signal);
    try {
      if (!original.file) throw new EncodeError('original_missing', FAILURE_CODES.original_missing);
      const workFolder = join(scratch, 'work');
      await mkdir(workFolder);
      const { spec } = claimed;
      const tracks = await needs.encoder.encodeChunk({
        source: original.file.path,
        workFolder,
        spec,
        signal,
      });
      return await storeChunk(needs, ref, { tracks, workFolder, signal });
    } finally {
      original.release();
    }
  } finally {
    await deleteScratchFolder(scratch);
  }
}

type EncodedFiles = {
  readonly tracks: EncodedChunk;
  readonly workFolder: string;
  readonly signal: AbortSignal;
};

/**
 * Objects are never overwritten: the segments of an interrupted try are used as they are. They have the same
 * frames, and the same init segment, or the chunk is refused.
 */
async function storeChunk(
  needs: ChunkNeeds,
  ref: ChunkRef,
  { tracks, workFolder, signal }: EncodedFiles,
): Promise<EncodedChunk> {
  const digest = hash('sha256', JSON.stringify(tracks.map(({ id, init }) => [id, init])));
  if (!(await needs.recordInit(ref, digest)))
    throw new ChunkMismatchError('the chunk has another init segment than the others');
  const segments = new Map(
    tracks.flatMap((track) => track.segments.map((segment) => [segment.name, segment] as const)),
  );
  await storeFiles(needs.store, ref, {
    files: [...segments.keys()].map((name) => ({ name, path: join(workFolder, name) })),
    signal,
    onExisting: async ({ name }) => {
      segments.set(name, await readStored(needs.store, ref, segments.get(name) as CmafSegment));
    },
  });
  return tracks.map((track) => ({
    ...track,
    segments: track.segments.map((segment) => segments.get(segment.name) ?? segment),
  }));
}

async function readStored(store: ObjectStore, ref: ChunkRef, own: CmafSegment): Promise<CmafSegment> {
  const key = renditionKey(ref.assetId, renditionFolder(ref.attempt, ref.try), own.name);
  const bytes = (await store.size(key)) ?? 0;
  const range = { start: 0, end: Math.min(bytes, SEGMENT_HEAD_BYTES) - 1 };
  const stored = readSegmentHead(await readBytes(store, key, range), { isOfVideo: true });
  if (stored.start !== own.start || stored.duration !== own.duration)
    throw new ChunkMismatchError(`the stored segment ${own.name} has other times`);
  return { name: own.name, bytes, ...stored };
}
