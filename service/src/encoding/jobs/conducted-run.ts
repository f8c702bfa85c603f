// What both jobs of an encode share: the scratch folder, the watch, the local original, and the final report.
import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FAILURE_CODES } from '@mediary/contract/failures';
import { findMediaType, type TimedType } from '@mediary/media-rules/media-type';
import type { Warning } from '../../assets/asset.ts';
import { selectExtras } from '../../assets/video-extras.ts';
import { type ClaimedJob, type ClaimedRun, runClaimedJob } from '../../platform/jobs/claimed-job.ts';
import { inScratchFolder } from '../../platform/process/scratch-folder.ts';
import type { LocalFile } from '../../storage/local-file.ts';
import { renditionFolder } from '../../storage/object-key.ts';
import type { EncodingContext } from '../context.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { isTransient } from '../encode-failure.ts';
import { EncodeError, type EncodeRequest, type Encoding } from '../encoder.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';
import { storeEmbedded } from './embedded-captions.ts';
import { deleteChunks } from './encode-chunks.ts';
import { endRun, finishRun, type Run } from './encode-runs.ts';
import { recordEncodeEnd } from './encode-runs.sql.ts';
import { deleteGrowingIndexes } from './growing-indexes.ts';
import { createProgressReporter } from './progress-reporter.ts';
import { describeSource, removeEarlierRuns, reportHead } from './run-files.ts';

/** Limit of runs that ended with a crash of their worker. */
const MAX_CRASHES = 10;

/** A run of this worker. `supersede` ends it without a report. */
export type RunControl = ClaimedRun & { readonly scratch: string };

type RunSteps = Pick<ClaimedJob, 'signal' | 'isCurrent' | 'discard' | 'fail'> & {
  readonly scratchName: { readonly work: string; readonly run: string };
  readonly encode: (control: RunControl) => Promise<void>;
};

/** Gives the run a scratch folder, and stops it within two seconds when it is no longer current. */
export async function conductRun(
  ctx: EncodingContext,
  run: Run,
  { scratchName, encode, ...steps }: RunSteps,
): Promise<void> {
  try {
    await runClaimedJob({
      ...steps,
      work: (claimed) =>
        inScratchFolder(ctx.worker.scratchRoot, scratchName, (scratch) => encode({ ...claimed, scratch })),
      onCheckError: (error) =>
        ctx.log.warn(
          { asset_id: run.assetId, err: error },
          'the worker cannot check whether the run is still current',
        ),
    });
  } finally {
    await endRun(ctx, run);
  }
}

type SourceRequest = Omit<EncodeRequest, 'posterTimeMs'>;

type SourceUse<T> = {
  readonly control: RunControl;
  /** The first worker of a run verifies the original. */
  readonly isVerified: boolean;
  readonly encode: (request: SourceRequest) => Promise<T>;
};

/** Reports the progress while `encode` uses a local file of the original. */
export async function withSource<T>(
  ctx: EncodingContext,
  run: Run,
  { control, isVerified, encode }: SourceUse<T>,
): Promise<T> {
  const { scratch, supersede, signal } = control;
  const reporter = createProgressReporter(ctx, { head: reportHead(run), signal, onSuperseded: supersede });
  const { container } = mediaOf(run);
  const { file: original, release } = await ctx.worker.originals.open(run.originalKey, signal);
  try {
    if (!original) throw new EncodeError('original_missing', FAILURE_CODES.original_missing);
    if (!isVerified) await verifySource(ctx, run, { original, control });
    reporter.start();
    return await encode({
      source: original.path,
      container,
      workFolder: await createFolder(scratch, 'work'),
      signal,
      onProgress: reporter.update,
    });
  } finally {
    release();
    await reporter.end();
  }
}

const mediaOf = ({ mimeType }: Run): TimedType => findMediaType(mimeType) as TimedType;

export const isAudio = (run: Run): boolean => mediaOf(run).kind === 'audio';

async function createFolder(scratch: string, name: string): Promise<string> {
  const folder = join(scratch, name);
  await mkdir(folder);
  return folder;
}

/** Throws when the original has another SHA-256 than announced; the asset has failed then. */
async function verifySource(
  ctx: EncodingContext,
  { assetId }: Run,
  { original, control }: { readonly original: LocalFile; readonly control: RunControl },
): Promise<void> {
  const asset = await ctx.lifecycle.findAssetById(assetId);
  const stored = { ...original, read: () => createReadStream(original.path) };
  if (asset && (await ctx.lifecycle.verifyOriginal(asset, stored)).refused) control.supersede();
  control.signal.throwIfAborted();
}

/** The report of a run whose files are stored, with the text subtitles of a video as captions. */
export async function completeEncoding(
  ctx: EncodingContext,
  run: Run,
  { scratch, request, encoding }: { scratch: string; request: SourceRequest; encoding: Encoding },
): Promise<EncoderReport> {
  const captionWarnings = isAudio(run) ? [] : await storeSubtitles(ctx, run, { scratch, request });
  const warnings = [...encoding.warnings, ...captionWarnings];
  return {
    ...reportHead(run),
    status: 'ready',
    progress: 100,
    renditions: encoding.renditions,
    ...describeSource(encoding),
    ...(encoding.placeholder !== undefined && { placeholder: encoding.placeholder }),
    ...(warnings.length > 0 && { warnings }),
    ...(run.posterTimeMs !== null && { poster_time_ms: run.posterTimeMs }),
    ...(selectExtras(ctx.settings.videoExtras, isAudio(run) ? 'audio' : 'video').length === 0 && {
      has_extras: false,
    }),
  };
}

async function storeSubtitles(
  ctx: EncodingContext,
  { assetId }: Run,
  { scratch, request }: { scratch: string; request: SourceRequest },
): Promise<readonly Warning[]> {
  const { source, container, signal } = request;
  const workFolder = await createFolder(scratch, 'captions');
  return storeEmbedded(ctx, assetId, { source, container, workFolder, signal });
}

/** The result of `encode`, or the report of a video that cannot be encoded. */
export async function orFailedReport<T>(
  ctx: EncodingContext,
  run: Run,
  encode: () => Promise<T>,
): Promise<T | EncoderReport> {
  try {
    if (run.crashes >= MAX_CRASHES)
      throw new EncodeError('encoder_crashed', 'The encoder crashed repeatedly while encoding this video');
    return await encode();
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    const { code, message, log } = error;
    ctx.log.warn(
      { asset_id: run.assetId, attempt: run.attempt, code, ffmpeg_log: excerptFfmpegLog(log) },
      'a video cannot be encoded',
    );
    return {
      ...reportHead(run),
      status: 'failed',
      failure: { code, message, retryable: isTransient(code) },
    };
  }
}

/** Publishes the run. False when it may not publish. */
export async function endWithReport(
  ctx: EncodingContext,
  run: Run,
  { report, removeAfter }: { readonly report: EncoderReport; readonly removeAfter?: Date | undefined },
): Promise<boolean> {
  const earlier = await removeEarlierRuns(ctx, run);
  if (!(await finishRun(ctx, run, { report, earlier, removeAfter }))) return false;
  if (report.status === 'ready') await recordEncodeEnd(ctx.db, run);
  await deleteGrowingIndexes(ctx, run.assetId, [...earlier, renditionFolder(run.attempt, run.run)]);
  await deleteChunks(ctx, run);
  return true;
}
