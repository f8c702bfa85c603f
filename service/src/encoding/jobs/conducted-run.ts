// What both jobs of an encode share: the scratch folder, the watch, the local original, and the final report.
import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import type { verifyOriginal } from '../../lifecycle/reports.ts';
import { findMediaType, type MediaType } from '../../media/media-type.ts';
import type { Bound } from '../../platform/bind.ts';
import { watchCondition } from '../../platform/concurrency/condition-watch.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import type { LocalFile } from '../../storage/local-file.ts';
import { renditionFolder } from '../../storage/object-key.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { isTransient } from '../encode-failure.ts';
import { EncodeError, type EncodeRequest, type Encoding } from '../encoder.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';
import { type EmbeddedCaptionNeeds, storeEmbedded } from './embedded-captions.ts';
import type { endRun, finishRun, Run } from './encode-runs.ts';
import { createProgressReporter } from './progress-reporter.ts';
import { describeSource, removeEarlierRuns, reportHead, type RunFileNeeds, type Work } from './run-files.ts';
import type { SharedOriginals } from './shared-originals.ts';

export type ConductNeeds = RunFileNeeds &
  EmbeddedCaptionNeeds & {
    readonly findAssetById: Bound<typeof findAssetById>;
    readonly verifyOriginal: Bound<typeof verifyOriginal>;
    readonly originals: SharedOriginals;
    readonly endRun: Bound<typeof endRun>;
    readonly finishRun: Bound<typeof finishRun>;
    readonly scratchRoot: string;
  };

/** Limit of runs that ended with a crash of their worker. */
const MAX_CRASHES = 10;

type Conduct = {
  readonly scratchName: { readonly work: string; readonly run: string };
  readonly signal: AbortSignal;
  readonly isCurrent: () => Promise<boolean>;
  readonly encode: (work: Work) => Promise<void>;
  /** Called when the run may no longer publish. */
  readonly onSuperseded: () => Promise<void>;
  /** Called for any other end, before the error is thrown. */
  readonly onError: (error: unknown, work: Work) => Promise<void>;
};

/** Gives the run a scratch folder, and stops it within two seconds when it is no longer current. */
export async function conductRun(needs: ConductNeeds, run: Run, conduct: Conduct): Promise<void> {
  const scratch = await createScratchFolder(needs.scratchRoot, conduct.scratchName);
  const superseded = new AbortController();
  const work: Work = {
    scratch,
    superseded,
    signal: AbortSignal.any([conduct.signal, superseded.signal]),
    isPublished: false,
    isAnnounced: false,
    isDivided: false,
  };
  const watch = watchCondition(conduct.isCurrent, {
    onEnd: () => superseded.abort(),
    onError: (error) =>
      needs.log.warn(
        { asset_id: run.assetId, err: error },
        'the worker cannot check whether the run is still current',
      ),
  });
  try {
    await conduct.encode(work);
  } catch (error) {
    // A deletion may make a write fail before the watch notices it.
    if (superseded.signal.aborted || !(await conduct.isCurrent())) return await conduct.onSuperseded();
    await conduct.onError(error, work);
    throw error;
  } finally {
    watch.close();
    await deleteScratchFolder(scratch);
    await needs.endRun(run);
  }
}

type SourceRequest = Omit<EncodeRequest, 'posterTimeMs'>;

type SourceUse<T> = {
  readonly work: Work;
  /** The first worker of a run verifies the original. */
  readonly isVerified: boolean;
  readonly encode: (request: SourceRequest) => Promise<T>;
};

/** Reports the progress while `encode` uses a local file of the original. */
export async function withSource<T>(
  needs: ConductNeeds,
  run: Run,
  { work, isVerified, encode }: SourceUse<T>,
): Promise<T> {
  const { scratch, superseded, signal } = work;
  const reporter = createProgressReporter({
    head: reportHead(run),
    callback: needs.callback,
    log: needs.log,
    signal,
    onSuperseded: () => superseded.abort(),
  });
  const { container } = findMediaType(run.mimeType) as Extract<MediaType, { kind: 'video' }>;
  const { file: original, release } = await needs.originals.open(run.originalKey, signal);
  try {
    if (!original) throw new EncodeError('original_missing', FAILURE_CODES.original_missing);
    if (!isVerified) await verifySource(needs, run, { original, work });
    reporter.start();
    return await encode({
      source: original.path,
      container,
      workFolder: await createFolder(scratch, 'work'),
      childFolder: renditionFolder(run.attempt, run.try),
      signal,
      onProgress: reporter.update,
    });
  } finally {
    release();
    await reporter.end();
  }
}

async function createFolder(scratch: string, name: string): Promise<string> {
  const folder = join(scratch, name);
  await mkdir(folder);
  return folder;
}

/** Throws when the original has another SHA-256 than announced; the asset has failed then. */
async function verifySource(
  needs: ConductNeeds,
  { assetId }: Run,
  { original, work }: { readonly original: LocalFile; readonly work: Work },
): Promise<void> {
  const asset = await needs.findAssetById(assetId);
  const stored = { ...original, read: () => createReadStream(original.path) };
  if (asset && (await needs.verifyOriginal(asset, stored)).refused) work.superseded.abort();
  work.signal.throwIfAborted();
}

/** The report of a run whose renditions are stored, with the text subtitles of the source as captions. */
export async function completeEncoding(
  needs: ConductNeeds,
  run: Run,
  { work, request, encoding }: { work: Work; request: SourceRequest; encoding: Encoding },
): Promise<EncoderReport> {
  const { source, container, signal } = request;
  const workFolder = await createFolder(work.scratch, 'captions');
  const captionWarnings = await storeEmbedded(needs, run.assetId, { source, container, workFolder, signal });
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
  };
}

/** The result of `encode`, or the report of a video that cannot be encoded. */
export async function orFailedReport<T>(
  needs: ConductNeeds,
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
    needs.log.warn(
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

/** The workers of chunks whose run has failed stop within two seconds. */
const CHUNK_END_MS = 60_000;

/** Publishes the run. False when it may not publish. */
export async function endWithReport(
  needs: ConductNeeds,
  run: Run,
  { report, isDivided }: { readonly report: EncoderReport; readonly isDivided: boolean },
): Promise<boolean> {
  const earlier = await removeEarlierRuns(needs, run);
  const removeAfter = isDivided ? new Date(Date.now() + CHUNK_END_MS) : undefined;
  if (!(await needs.finishRun(run, { report, earlier, removeAfter }))) return false;
  await needs.deleteManifests(run.assetId, [...earlier, renditionFolder(run.attempt, run.try)]);
  await needs.deleteChunks(run.assetId);
  return true;
}
