// Job that encodes what makes a video playable, and leaves the other renditions to `encode-rest`.
import type { JobPayloads } from '../../jobs.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { renditionFolder } from '../../storage/object-key.ts';
import type { EncodingContext } from '../context.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { type EncodeCheckpoint, LongVideoError } from '../encoder.ts';
import { isLong, LONG_VIDEO_SECONDS } from '../encode-jobs.ts';
import {
  completeEncoding,
  conductRun,
  endWithReport,
  isAudio,
  orFailedReport,
  type RunControl,
  withSource,
} from './conducted-run.ts';
import { isContinued, moveToLong, saveCheckpoint } from './encode-checkpoints.ts';
import { deleteChunks, findChunkSeconds } from './encode-chunks.ts';
import { beginRun, isCurrentRun, releaseRun, type Run } from './encode-runs.ts';
import {
  createPublisher,
  discard,
  isInterruption,
  removeEarlierRuns,
  removeUnpublished,
  storeFiles,
} from './run-files.ts';

type FirstPhase = JobPayloads['encode-asset'];

/** Moves long videos to `encode-long`. */
export const encodeAssetJob =
  (ctx: EncodingContext) =>
  async (job: JobRun<FirstPhase>): Promise<void> => {
    const { payload } = job;
    const asset = await ctx.lifecycle.findAssetById(payload.assetId);
    if (asset && isLong(asset)) return moveToLong(ctx, payload);
    await encodeFirst(ctx, job, LONG_VIDEO_SECONDS);
  };

export const encodeLongJob =
  (ctx: EncodingContext) =>
  (job: JobRun<FirstPhase>): Promise<void> =>
    encodeFirst(ctx, job);

async function encodeFirst(
  ctx: EncodingContext,
  { payload, signal }: JobRun<FirstPhase>,
  maxSeconds?: number,
): Promise<void> {
  if (await isContinued(ctx, payload)) return;
  const run = await beginRun(ctx, payload);
  if (!run) return deleteChunks(ctx, payload);
  try {
    await conductRun(ctx, run, {
      scratchName: { work: run.assetId, run: renditionFolder(run.attempt, run.run) },
      signal,
      isCurrent: () => isCurrentRun(ctx, run),
      encode: (control) => encodeAndSave(ctx, run, { ...control, maxSeconds }),
      discard: () => discard(ctx, run),
      fail: async (error, isStopped) => {
        if (isStopped || isInterruption(error) || error instanceof LongVideoError) await releaseRun(ctx, run);
        await removeUnpublished(ctx, run);
      },
    });
  } catch (error) {
    if (!(error instanceof LongVideoError)) throw error;
    await moveToLong(ctx, payload);
  }
}

/** `maxSeconds`: longer videos belong to `encode-long`. */
type FirstControl = RunControl & { readonly maxSeconds: number | undefined };

async function encodeAndSave(ctx: EncodingContext, run: Run, control: FirstControl): Promise<void> {
  await removeEarlierRuns(ctx, run);
  // Earlier runs may have left chunks.
  await deleteChunks(ctx, run, { keepsRefused: true });
  const first = await orFailedReport(ctx, run, () => startEncode(ctx, run, control));
  const isCurrent =
    'status' in first
      ? await endWithReport(ctx, run, { report: first })
      : await saveCheckpoint(ctx, run, first);
  if (!isCurrent) await discard(ctx, run);
}

const startEncode = (
  ctx: EncodingContext,
  run: Run,
  control: FirstControl,
): Promise<EncodeCheckpoint | EncoderReport> =>
  withSource(ctx, run, {
    control,
    isVerified: false,
    encode: async (request) => {
      const { scratch, signal, maxSeconds } = control;
      const started = isAudio(run)
        ? { encoding: await ctx.encoder.encodeAudio(request) }
        : await ctx.encoder.startEncode({
            ...request,
            posterTimeMs: run.posterTimeMs,
            onPlayable: createPublisher(ctx, run, signal),
            chunkSeconds: await findChunkSeconds(ctx, run),
            maxSeconds,
          });
      if ('checkpoint' in started) return started.checkpoint;
      const { encoding } = started;
      await storeFiles(ctx.store, run, { files: encoding.files, signal });
      return completeEncoding(ctx, run, { scratch, request, encoding });
    },
  });
