// Job that encodes the other renditions of a playable video, stores them and reports the result.
import { join } from 'node:path';
import type { JobPayloads } from '../../jobs.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { renditionFolder, renditionKey } from '../../storage/object-key.ts';
import type { EncodingContext } from '../context.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { ChunkMismatchError, type ContinueRequest } from '../encoder.ts';
import {
  completeEncoding,
  conductRun,
  endWithReport,
  orFailedReport,
  type RunControl,
  withSource,
} from './conducted-run.ts';
import {
  claimCheckpoint,
  type ContinuedRun,
  deleteCheckpoint,
  isCurrentClaim,
  isRunUsed,
  recordInterruption,
  restartEncode,
  startStoring,
} from './encode-checkpoints.ts';
import { prepareChunks } from './encode-chunks.ts';
import { discard, isInterruption, storeFiles } from './run-files.ts';

type RunRef = JobPayloads['encode-rest'];

export const encodeRestJob =
  (ctx: EncodingContext) =>
  async ({ payload, signal }: JobRun<RunRef>): Promise<void> => {
    const run = await claimCheckpoint(ctx, payload);
    if (!run) return endUnclaimed(ctx, payload);
    await conductRun(ctx, run, {
      scratchName: {
        work: `rest-${run.assetId}`,
        run: `${renditionFolder(run.attempt, run.run)}-${run.claim}`,
      },
      signal,
      isCurrent: () => isCurrentClaim(ctx, run),
      encode: (control) => encodeAndEnd(ctx, run, control),
      discard: () => discardUnused(ctx, run),
      fail: async (error, isStopped) => {
        if (isStopped || isInterruption(error)) await recordInterruption(ctx, run);
        // The next run encodes the video in one piece, with new names for its segments.
        if (error instanceof ChunkMismatchError) await restartEncode(ctx, run);
      },
    });
  };

/** The run has ended, or its last worker crashed while it stored the files. */
async function endUnclaimed(ctx: EncodingContext, run: RunRef): Promise<void> {
  if (await isRunUsed(ctx, run)) return restartEncode(ctx, run);
  await discardUnused(ctx, run);
}

/** Another worker may continue the run, or has ended it. */
async function discardUnused(ctx: EncodingContext, run: RunRef): Promise<void> {
  if (await isRunUsed(ctx, run)) return;
  await deleteCheckpoint(ctx, run);
  await discard(ctx, run);
}

async function encodeAndEnd(ctx: EncodingContext, run: ContinuedRun, control: RunControl): Promise<void> {
  const chunks = await prepareChunks(ctx, run, control.signal);
  const encode = () => continueEncode(ctx, run, { ...control, chunks: chunks.request });
  const report = await orFailedReport(ctx, run, encode);
  control.signal.throwIfAborted();
  if (!(await endWithReport(ctx, run, { report, removeAfter: chunks.storedUntil() })))
    return discardUnused(ctx, run);
  await deleteCheckpoint(ctx, run);
}

type RestControl = RunControl & {
  readonly chunks: Pick<ContinueRequest, 'chunkSeconds' | 'encodeChunks'>;
};

const continueEncode = (
  ctx: EncodingContext,
  run: ContinuedRun,
  control: RestControl,
): Promise<EncoderReport> =>
  withSource(ctx, run, {
    control,
    isVerified: true,
    encode: async (request) => {
      const { scratch, signal, chunks } = control;
      const encoding = await ctx.encoder.continueEncode({
        ...request,
        posterTimeMs: run.posterTimeMs,
        checkpoint: run.checkpoint,
        openSegment: (name) => openSegment(ctx, run, { folder: request.workFolder, name, signal }),
        ...chunks,
      });
      if (!(await startStoring(ctx, run))) control.supersede();
      await storeFiles(ctx.store, run, { files: encoding.files, signal });
      return completeEncoding(ctx, run, { scratch, request, encoding });
    },
  });

type StoredSegment = { readonly folder: string; readonly name: string; readonly signal: AbortSignal };

async function openSegment(
  ctx: EncodingContext,
  run: ContinuedRun,
  { folder, name, signal }: StoredSegment,
): Promise<string> {
  const key = renditionKey(run.assetId, renditionFolder(run.attempt, run.run), name);
  const segment = await ctx.worker.findLocalFile(key, { path: join(folder, name), signal });
  if (!segment) throw new Error('a segment of the run is not stored');
  return segment.path;
}
