// Job that encodes one attempt of a video: reads the original, stores the renditions and reports the result.
import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { verifyOriginal } from '../../lifecycle/reports.ts';
import { type MediaType, findMediaType } from '../../media/media-type.ts';
import type { Bound, BoundOperations } from '../../platform/bind.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { watchCondition } from '../../platform/concurrency/condition-watch.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import type { findLocalFile, LocalFile } from '../../storage/local-file.ts';
import { renditionFolder, renditionKey } from '../../storage/object-key.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { isTransient } from '../encode-failure.ts';
import { type ChunkRunner, EncodeError, type Encoder, type Encoding } from '../encoder.ts';
import { type EmbeddedCaptionNeeds, storeEmbedded } from './embedded-captions.ts';
import type * as chunkOperations from './encode-chunks.ts';
import type * as runOperations from './encode-runs.ts';
import type { Run } from './encode-runs.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';
import { createProgressReporter } from './progress-reporter.ts';
import {
  describeSource,
  discard,
  folderOf,
  isInterruption,
  publishPart,
  removeEarlierRuns,
  reportHead,
  type RunFileNeeds,
  storeFiles,
  type Work,
} from './run-files.ts';

export type EncodeNeeds = BoundOperations<typeof runOperations> &
  Pick<BoundOperations<typeof chunkOperations>, 'canUseChunks' | 'encodeChunks'> &
  EmbeddedCaptionNeeds &
  RunFileNeeds & {
    readonly findAssetById: Bound<typeof findAssetById>;
    readonly verifyOriginal: Bound<typeof verifyOriginal>;
    readonly findLocalFile: Bound<typeof findLocalFile>;
    readonly encoder: Encoder;
    readonly scratchRoot: string;
    /** Shortest length of a chunk; 0: videos are encoded in one piece. */
    readonly chunkSeconds: number;
  };

/** Limit of runs that ended with a crash of their worker. */
const MAX_CRASHES = 10;

export const encodeAssetJob =
  (needs: EncodeNeeds) =>
  async ({ payload, signal }: JobRun<JobPayloads['encode-asset']>): Promise<void> => {
    const run = await needs.beginRun(payload);
    if (!run) return needs.deleteChunks(payload.assetId);
    try {
      await encodeRun(needs, run, signal);
    } finally {
      await needs.endRun(run);
    }
  };

async function encodeRun(needs: EncodeNeeds, run: Run, signal: AbortSignal): Promise<void> {
  const earlier = await removeEarlierRuns(needs, run);
  const scratch = await createScratchFolder(needs.scratchRoot, {
    work: run.assetId,
    run: renditionFolder(run.attempt, run.try),
  });
  const superseded = new AbortController();
  const work: Work = {
    scratch,
    superseded,
    signal: AbortSignal.any([signal, superseded.signal]),
    isPublished: false,
    isAnnounced: false,
    isDivided: false,
  };
  const watch = watchCondition(() => needs.isCurrentRun(run), {
    onEnd: () => superseded.abort(),
    onError: (error) =>
      needs.log.warn(
        { asset_id: run.assetId, err: error },
        'the worker cannot check whether the run is still current',
      ),
  });
  try {
    const report = await buildReport(needs, run, work);
    const removeAfter = work.isDivided ? new Date(Date.now() + CHUNK_END_MS) : undefined;
    if (!(await needs.finishRun(run, { report, earlier, removeAfter }))) return await discard(needs, run);
    await needs.deleteManifests(run.assetId, [...earlier, renditionFolder(run.attempt, run.try)]);
    await needs.deleteChunks(run.assetId);
  } catch (error) {
    // A deletion may make a write fail before the watch notices it.
    if (superseded.signal.aborted || !(await needs.isCurrentRun(run))) return await discard(needs, run);
    if (signal.aborted || isInterruption(error)) await needs.releaseRun(run);
    // Players may read the published part until the next run publishes its own.
    if (!work.isPublished) await needs.store.removeAll(folderOf(run));
    throw error;
  } finally {
    watch.close();
    await deleteScratchFolder(scratch);
  }
}

/** The final report of the run: succeeded or failed. */
async function buildReport(needs: EncodeNeeds, run: Run, work: Work): Promise<EncoderReport> {
  try {
    if (run.crashes >= MAX_CRASHES)
      throw new EncodeError('encoder_crashed', 'The encoder crashed repeatedly while encoding this video');
    return toReadyReport(run, await encode(needs, run, work));
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    needs.log.warn(
      {
        asset_id: run.assetId,
        attempt: run.attempt,
        code: error.code,
        ffmpeg_log: excerptFfmpegLog(error.log),
      },
      'a video cannot be encoded',
    );
    return {
      ...reportHead(run),
      status: 'failed',
      failure: { code: error.code, message: error.message, retryable: isTransient(error.code) },
    };
  }
}

async function encode(needs: EncodeNeeds, run: Run, work: Work): Promise<Encoding> {
  const { scratch, superseded, signal } = work;
  const reporter = createProgressReporter({
    head: reportHead(run),
    callback: needs.callback,
    log: needs.log,
    signal,
    onSuperseded: () => superseded.abort(),
  });
  const media = findMediaType(run.mimeType) as Extract<MediaType, { kind: 'video' }>;
  const source = await needs.findLocalFile(run.originalKey, { path: join(scratch, 'original'), signal });
  if (!source) throw new EncodeError('original_missing', FAILURE_CODES.original_missing);
  if (!(await verifySource(needs, run, source))) superseded.abort();
  signal.throwIfAborted();
  const workFolder = await createFolder(scratch, 'work');
  const chunks = await openChunks(needs, run, { folder: workFolder, work });
  reporter.start();
  try {
    const encoding = await needs.encoder.encode({
      source: source.path,
      container: media.container,
      workFolder,
      childFolder: renditionFolder(run.attempt, run.try),
      posterTimeMs: run.posterTimeMs,
      signal,
      onProgress: reporter.update,
      onPlayable: (part) => publishPart(needs, run, { work, part }),
      chunks,
    });
    await storeFiles(needs.store, run, { files: encoding.files, signal });
    const captionWarnings = await storeEmbedded(needs, run.assetId, {
      source: source.path,
      container: media.container,
      workFolder: await createFolder(scratch, 'captions'),
      signal,
    });
    return { ...encoding, warnings: [...encoding.warnings, ...captionWarnings] };
  } finally {
    await reporter.end();
  }
}

/** The workers of chunks whose run has failed stop within two seconds. */
const CHUNK_END_MS = 60_000;

type ChunkPlace = { readonly folder: string; readonly work: Work };

/** Undefined: the video is encoded in one piece. */
async function openChunks(
  needs: EncodeNeeds,
  run: Run,
  { folder, work }: ChunkPlace,
): Promise<ChunkRunner | undefined> {
  const { signal } = work;
  // Earlier runs may have left chunks.
  await needs.deleteChunks(run.assetId, run.attempt);
  if (needs.chunkSeconds === 0 || !(await needs.canUseChunks(run))) return undefined;
  let batches = 0;
  return {
    seconds: needs.chunkSeconds,
    encode: (specs, onDone) => {
      work.isDivided = true;
      return needs.encodeChunks(run, { batch: batches++, specs, onDone, signal });
    },
    openSegment: async (name) => {
      const key = renditionKey(run.assetId, renditionFolder(run.attempt, run.try), name);
      const segment = await needs.findLocalFile(key, { path: join(folder, name), signal });
      if (!segment) throw new Error('a segment of a chunk is not stored');
      return segment.path;
    },
  };
}

async function createFolder(scratch: string, name: string): Promise<string> {
  const folder = join(scratch, name);
  await mkdir(folder);
  return folder;
}

/** False if the local copy has another SHA-256 than announced; the asset has failed then. */
async function verifySource(needs: EncodeNeeds, { assetId }: Run, source: LocalFile): Promise<boolean> {
  const asset = await needs.findAssetById(assetId);
  const original = { ...source, read: () => createReadStream(source.path) };
  return asset === undefined || !(await needs.verifyOriginal(asset, original)).refused;
}

const toReadyReport = (run: Run, encoding: Encoding): EncoderReport => ({
  ...reportHead(run),
  status: 'ready',
  progress: 100,
  renditions: encoding.renditions,
  ...describeSource(encoding),
  ...(encoding.placeholder !== undefined && { placeholder: encoding.placeholder }),
  ...(encoding.warnings.length > 0 && { warnings: encoding.warnings }),
  ...(run.posterTimeMs !== null && { poster_time_ms: run.posterTimeMs }),
});
