// Job that encodes what makes a video playable, and leaves the other renditions to `encode-rest`.
import type { JobPayloads } from '../../jobs.ts';
import type { Bound, BoundOperations } from '../../platform/bind.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { renditionFolder } from '../../storage/object-key.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { type EncodeCheckpoint, type Encoder, LongVideoError } from '../encoder.ts';
import { isLongVideo, LONG_VIDEO_SECONDS } from '../encode-jobs.ts';
import {
  completeEncoding,
  type ConductNeeds,
  conductRun,
  endWithReport,
  orFailedReport,
  withSource,
} from './conducted-run.ts';
import type { isContinued, moveToLong, saveCheckpoint } from './encode-checkpoints.ts';
import type { canUseChunks } from './encode-chunks.ts';
import type * as runOperations from './encode-runs.ts';
import type { Run } from './encode-runs.ts';
import {
  discard,
  folderOf,
  isInterruption,
  publishPart,
  removeEarlierRuns,
  storeFiles,
  type Work,
} from './run-files.ts';

export type EncodeNeeds = BoundOperations<typeof runOperations> &
  ConductNeeds & {
    readonly isContinued: Bound<typeof isContinued>;
    readonly moveToLong: Bound<typeof moveToLong>;
    readonly saveCheckpoint: Bound<typeof saveCheckpoint>;
    readonly canUseChunks: Bound<typeof canUseChunks>;
    readonly encoder: Pick<Encoder, 'startEncode' | 'extractSubtitles'>;
    /** Shortest length of a chunk; 0: videos are encoded in one piece. */
    readonly chunkSeconds: number;
  };

type FirstPhase = JobPayloads['encode-asset'];

/** Moves long videos to `encode-long`. */
export const encodeAssetJob =
  (needs: EncodeNeeds) =>
  async (job: JobRun<FirstPhase>): Promise<void> => {
    const { payload } = job;
    const asset = await needs.findAssetById(payload.assetId);
    if (isLongVideo(asset?.duration_ms ?? 0)) return needs.moveToLong(payload);
    await encodeFirst(needs, job, LONG_VIDEO_SECONDS);
  };

export const encodeLongJob =
  (needs: EncodeNeeds) =>
  (job: JobRun<FirstPhase>): Promise<void> =>
    encodeFirst(needs, job);

async function encodeFirst(
  needs: EncodeNeeds,
  { payload, signal }: JobRun<FirstPhase>,
  maxSeconds?: number,
): Promise<void> {
  if (await needs.isContinued(payload)) return;
  const run = await needs.beginRun(payload);
  if (!run) return needs.deleteChunks(payload.assetId);
  try {
    await conductRun(needs, run, {
      scratchName: { work: run.assetId, run: renditionFolder(run.attempt, run.try) },
      signal,
      isCurrent: () => needs.isCurrentRun(run),
      encode: (work) => encodeAndSave(needs, run, { work, maxSeconds }),
      onSuperseded: () => discard(needs, run),
      onError: async (error, { isPublished }) => {
        if (signal.aborted || isInterruption(error) || error instanceof LongVideoError)
          await needs.releaseRun(run);
        // Players may read the published part until the next run publishes its own.
        if (!isPublished) await needs.store.removeAll(folderOf(run));
      },
    });
  } catch (error) {
    if (!(error instanceof LongVideoError)) throw error;
    await needs.moveToLong(payload);
  }
}

type FirstWork = { readonly work: Work; readonly maxSeconds: number | undefined };

async function encodeAndSave(needs: EncodeNeeds, run: Run, { work, maxSeconds }: FirstWork): Promise<void> {
  await removeEarlierRuns(needs, run);
  // Earlier runs may have left chunks.
  await needs.deleteChunks(run.assetId, run.attempt);
  const first = await orFailedReport(needs, run, () => startEncode(needs, run, { work, maxSeconds }));
  const isCurrent =
    'status' in first
      ? await endWithReport(needs, run, { report: first, isDivided: false })
      : await needs.saveCheckpoint(run, first);
  if (!isCurrent) await discard(needs, run);
}

const startEncode = (
  needs: EncodeNeeds,
  run: Run,
  { work, maxSeconds }: FirstWork,
): Promise<EncodeCheckpoint | EncoderReport> =>
  withSource(needs, run, {
    work,
    isVerified: false,
    encode: async (request) => {
      const isDivided = needs.chunkSeconds > 0 && (await needs.canUseChunks(run));
      const started = await needs.encoder.startEncode({
        ...request,
        posterTimeMs: run.posterTimeMs,
        onPlayable: (part) => publishPart(needs, run, { work, part }),
        chunkSeconds: isDivided ? needs.chunkSeconds : undefined,
        maxSeconds,
      });
      if ('checkpoint' in started) return started.checkpoint;
      const { encoding } = started;
      await storeFiles(needs.store, run, { files: encoding.files, signal: work.signal });
      return completeEncoding(needs, run, { work, request, encoding });
    },
  });
