// Job that encodes the other renditions of a playable video, stores them and reports the result.
import { join } from 'node:path';
import type { JobPayloads } from '../../jobs.ts';
import type { Bound, BoundOperations } from '../../platform/bind.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import type { findLocalFile } from '../../storage/local-file.ts';
import { renditionFolder, renditionKey } from '../../storage/object-key.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { ChunkMismatchError, type ContinueRequest, type Encoder } from '../encoder.ts';
import {
  completeEncoding,
  type ConductNeeds,
  conductRun,
  endWithReport,
  orFailedReport,
  withSource,
} from './conducted-run.ts';
import type * as checkpointOperations from './encode-checkpoints.ts';
import type { ContinuedRun } from './encode-checkpoints.ts';
import type { canUseChunks, encodeChunks } from './encode-chunks.ts';
import { discard, isInterruption, storeFiles, type Work } from './run-files.ts';

export type RestNeeds = ConductNeeds &
  Omit<BoundOperations<typeof checkpointOperations>, 'isContinued' | 'moveToLong' | 'saveCheckpoint'> & {
    readonly canUseChunks: Bound<typeof canUseChunks>;
    readonly encodeChunks: Bound<typeof encodeChunks>;
    readonly findLocalFile: Bound<typeof findLocalFile>;
    readonly encoder: Pick<Encoder, 'continueEncode' | 'extractSubtitles'>;
    /** Shortest length of a chunk; 0: videos are encoded in one piece. */
    readonly chunkSeconds: number;
  };

type RunRef = JobPayloads['encode-rest'];

export const encodeRestJob =
  (needs: RestNeeds) =>
  async ({ payload, signal }: JobRun<RunRef>): Promise<void> => {
    const run = await needs.claimCheckpoint(payload);
    if (!run) return endUnclaimed(needs, payload);
    await conductRun(needs, run, {
      scratchName: {
        work: `rest-${run.assetId}`,
        run: `${renditionFolder(run.attempt, run.try)}-${run.claim}`,
      },
      signal,
      isCurrent: () => needs.isCurrentClaim(run),
      encode: (work) => encodeAndEnd(needs, run, work),
      onSuperseded: () => discardUnused(needs, run),
      onError: async (error) => {
        if (signal.aborted || isInterruption(error)) await needs.recordInterruption(run);
        // The next run encodes the video in one piece, with new names for its segments.
        if (error instanceof ChunkMismatchError) await needs.restartEncode(run);
      },
    });
  };

/** The run has ended, or its last worker crashed while it stored the files. */
async function endUnclaimed(needs: RestNeeds, run: RunRef): Promise<void> {
  if (await needs.isRunUsed(run)) return needs.restartEncode(run);
  await discardUnused(needs, run);
}

/** Another worker may continue the run, or has ended it. */
async function discardUnused(needs: RestNeeds, run: RunRef): Promise<void> {
  if (await needs.isRunUsed(run)) return;
  await needs.deleteCheckpoint(run);
  await discard(needs, run);
}

async function encodeAndEnd(needs: RestNeeds, run: ContinuedRun, work: Work): Promise<void> {
  const report = await orFailedReport(needs, run, () => continueEncode(needs, run, work));
  work.signal.throwIfAborted();
  if (!(await endWithReport(needs, run, { report, isDivided: work.isDivided })))
    return discardUnused(needs, run);
  await needs.deleteCheckpoint(run);
}

const continueEncode = (needs: RestNeeds, run: ContinuedRun, work: Work): Promise<EncoderReport> =>
  withSource(needs, run, {
    work,
    isVerified: true,
    encode: async (request) => {
      const { signal } = work;
      const encoding = await needs.encoder.continueEncode({
        ...request,
        posterTimeMs: run.posterTimeMs,
        checkpoint: run.checkpoint,
        openSegment: (name) => openSegment(needs, run, { folder: request.workFolder, name, signal }),
        ...(await chunksOf(needs, run, work)),
      });
      if (!(await needs.startStoring(run))) work.superseded.abort();
      await storeFiles(needs.store, run, { files: encoding.files, signal });
      return completeEncoding(needs, run, { work, request, encoding });
    },
  });

async function chunksOf(
  needs: RestNeeds,
  run: ContinuedRun,
  work: Work,
): Promise<Pick<ContinueRequest, 'chunkSeconds' | 'encodeChunks'>> {
  if (!run.checkpoint.isDividable || needs.chunkSeconds === 0 || !(await needs.canUseChunks(run))) return {};
  let batches = 0;
  return {
    chunkSeconds: needs.chunkSeconds,
    encodeChunks: (specs, onDone) => {
      work.isDivided = true;
      return needs.encodeChunks(run, { batch: batches++, specs, onDone, signal: work.signal });
    },
  };
}

type StoredSegment = { readonly folder: string; readonly name: string; readonly signal: AbortSignal };

async function openSegment(
  needs: RestNeeds,
  run: ContinuedRun,
  { folder, name, signal }: StoredSegment,
): Promise<string> {
  const key = renditionKey(run.assetId, renditionFolder(run.attempt, run.try), name);
  const segment = await needs.findLocalFile(key, { path: join(folder, name), signal });
  if (!segment) throw new Error('a segment of the run is not stored');
  return segment.path;
}
