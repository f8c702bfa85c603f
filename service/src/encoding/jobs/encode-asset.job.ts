// Job that encodes one attempt of a video: reads the original, stores the renditions and reports the result.
import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { verifyOriginal } from '../../lifecycle/reports.ts';
import { type MediaType, findMediaType } from '../../media/media-type.ts';
import type { Bound, BoundOperations } from '../../platform/bind.ts';
import { isUnavailable } from '../../platform/errors.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { watchCondition } from '../../platform/concurrency/condition-watch.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import type { findLocalFile, LocalFile } from '../../storage/local-file.ts';
import { renditionFolder, renditionKey, renditionPrefix } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { Callback, EncoderReport } from '../encoder-report.ts';
import { isTransient } from '../encode-failure.ts';
import { EncodeFailed, type EncodedFile, type Encoder, type Encoding } from '../encoder.ts';
import type * as runOperations from './encode-runs.ts';
import type { Run } from './encode-runs.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';
import { createProgressReporter } from './progress-reporter.ts';

export type EncodeNeeds = BoundOperations<typeof runOperations> & {
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly verifyOriginal: Bound<typeof verifyOriginal>;
  readonly store: ObjectStore;
  readonly findLocalFile: Bound<typeof findLocalFile>;
  readonly encoder: Encoder;
  readonly callback: Callback;
  readonly scratchRoot: string;
  readonly log: { warn(facts: object, message: string): void };
};

/** Limit of runs that ended with a crash of their worker. */
const MAX_RUNS = 10;
const STORE_CONCURRENCY = 4;
const MAX_FILE_BYTES = 2 ** 31;

export const encodeAssetJob =
  (needs: EncodeNeeds) =>
  async ({ payload, signal }: JobRun<JobPayloads['encode-asset']>): Promise<void> => {
    const run = await needs.beginRun(payload);
    if (!run) return;
    try {
      await encodeRun(needs, run, signal);
    } finally {
      await needs.endRun(run);
    }
  };

async function encodeRun(needs: EncodeNeeds, run: Run, signal: AbortSignal): Promise<void> {
  await removeEarlierRuns(needs.store, run);
  const scratch = await createScratchFolder(needs.scratchRoot, {
    work: run.assetId,
    run: renditionFolder(run.attempt, run.try),
  });
  const superseded = new AbortController();
  const watch = watchCondition(() => needs.isCurrentRun(run), {
    onEnd: () => superseded.abort(),
    onError: (error) =>
      needs.log.warn(
        { asset_id: run.assetId, err: error },
        'the worker cannot check whether the run is still current',
      ),
  });
  try {
    const report = await buildReport(needs, run, {
      scratch,
      superseded,
      signal: AbortSignal.any([signal, superseded.signal]),
    });
    if (!(await needs.finishRun(run, report))) await needs.discardRun(run);
  } catch (error) {
    if (superseded.signal.aborted) return await needs.discardRun(run);
    await needs.store.removeAll(folderOf(run));
    // A full disk or an unreachable store is no crash of the encoder.
    if (signal.aborted || isUnavailable(error)) await needs.releaseRun(run);
    throw error;
  } finally {
    watch.close();
    await deleteScratchFolder(scratch);
  }
}

type Work = { readonly scratch: string; readonly superseded: AbortController; readonly signal: AbortSignal };

/** The final report of the run: succeeded or failed. */
async function buildReport(needs: EncodeNeeds, run: Run, work: Work): Promise<EncoderReport> {
  try {
    if (run.try > MAX_RUNS)
      throw new EncodeFailed('encoder_crashed', 'The encoder crashed repeatedly while encoding this video');
    return ready(run, await encode(needs, run, work));
  } catch (error) {
    if (!(error instanceof EncodeFailed)) throw error;
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

async function encode(
  needs: EncodeNeeds,
  run: Run,
  { scratch, superseded, signal }: Work,
): Promise<Encoding> {
  const reporter = createProgressReporter({
    head: reportHead(run),
    callback: needs.callback,
    log: needs.log,
    signal,
    onSuperseded: () => superseded.abort(),
  });
  const media = findMediaType(run.mimeType) as Extract<MediaType, { kind: 'video' }>;
  const source = await needs.findLocalFile(run.originalKey, { path: join(scratch, 'original'), signal });
  if (!source) throw new EncodeFailed('original_missing', 'The original of this video is no longer stored');
  if (await isRefused(needs, run, source)) superseded.abort();
  signal.throwIfAborted();
  const workFolder = join(scratch, 'work');
  await mkdir(workFolder);
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
    });
    await storeFiles(needs.store, run, { files: encoding.files, signal });
    return encoding;
  } finally {
    await reporter.end();
  }
}

/** Whether the local copy has another SHA-256 than announced; the asset has failed then. */
async function isRefused(needs: EncodeNeeds, { assetId }: Run, source: LocalFile): Promise<boolean> {
  const asset = await needs.findAssetById(assetId);
  const original = { ...source, read: () => createReadStream(source.path) };
  return asset !== undefined && (await needs.verifyOriginal(asset, original)).refused;
}

async function storeFiles(
  store: ObjectStore,
  run: Run,
  { files, signal }: { files: readonly EncodedFile[]; signal: AbortSignal },
): Promise<void> {
  const folder = renditionFolder(run.attempt, run.try);
  const remaining = files.values();
  const storeNext = async () => {
    for (const { name, path } of remaining) {
      signal.throwIfAborted();
      await store.put(
        renditionKey(run.assetId, folder, name),
        createReadStream(path, { highWaterMark: 1024 * 1024 }),
        MAX_FILE_BYTES,
      );
    }
  };
  await Promise.all(Array.from({ length: STORE_CONCURRENCY }, storeNext));
}

async function removeEarlierRuns(store: ObjectStore, run: Run): Promise<void> {
  for (let earlier = 1; earlier < run.try; earlier++)
    await store.removeAll(folderOf({ ...run, try: earlier }));
}

const folderOf = (run: Run) => renditionPrefix(run.assetId, renditionFolder(run.attempt, run.try));
const reportHead = (run: Run) => ({ asset_id: run.assetId, attempt: run.attempt, try: run.try });

const ready = (
  run: Run,
  { renditions, audio, width, height, durationMs, warnings }: Encoding,
): EncoderReport => ({
  ...reportHead(run),
  status: 'ready',
  progress: 100,
  renditions,
  width,
  height,
  duration_ms: durationMs,
  ...(audio.length > 0 && { audio }),
  ...(warnings.length > 0 && { warnings }),
  ...(run.posterTimeMs !== null && { poster_time_ms: run.posterTimeMs }),
});
