// Job that imports an asset: downloads its bytes, stores them as its original, and completes the upload or
// starts the transfer to a hosted provider.
import { setTimeout as wait } from 'node:timers/promises';
import type { Asset, Failure } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import { ServiceError } from '../../platform/http/errors.ts';
import type { SlotRun } from '../../platform/jobs/job-queue.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import {
  type Download,
  type DownloadOptions,
  openDownload,
} from '../../platform/outbound/resumable-download.ts';
import { toContentFailure } from '../content-check.ts';
import type { UploadsContext } from '../context.ts';
import type { LeasedUpload } from '../original/leased-uploads.ts';
import { storeOriginal } from '../original/store-original.ts';
import { uncountOutage } from '../service-runs.ts';
import { appendBytes } from '../tus/resumable-bytes.ts';
import { toDownloadFailure, toImportFailure, TOO_MANY_RUNS, toStoreFailure } from './import-failure.ts';
import type { ImportProgress } from './import-progress.ts';
import {
  beginRun,
  createProgressRecorder,
  deferRun,
  failImport,
  type ImportRun,
  uncountRun,
} from './import-runs.ts';
import { createPartial, discardPartial, openPartial } from './partial-imports.ts';
import { type MovedBytes, whileSlotIsKept } from './run-watch.ts';
import { completeImport } from './transfer-import.ts';

/** Limit of runs that ended with a crash, or without bytes from which the next one continues. */
const MAX_RUNS = 10;
const RESTART_DELAY_MS = 500;

type ImportEnd = { readonly stored: Asset } | { readonly failure: Failure } | 'restart' | 'over';
type ImportJobRun = Pick<SlotRun<JobPayloads['import-asset']>, 'signal' | 'slot'>;

export const importAssetJob =
  (ctx: UploadsContext) =>
  async ({ payload, signal, slot }: SlotRun<JobPayloads['import-asset']>): Promise<void> => {
    for (;;) {
      const run = await beginRun(ctx, payload);
      if (!run) return;
      const outcome = await execute(ctx, run, { signal, slot });
      if (outcome !== 'restart') return end(ctx, run, outcome);
      if (await slot.isWanted()) return deferRun(ctx, run, { slot, heldMs: 0, hasProgress: false });
      await wait(RESTART_DELAY_MS * run.runs, undefined, { signal });
    }
  };

async function execute(ctx: UploadsContext, run: ImportRun, job: ImportJobRun): Promise<ImportEnd> {
  // An earlier run stored the bytes and could not complete them.
  if (run.asset.uploaded_at) return { stored: run.asset };
  if (run.runs > MAX_RUNS) return { failure: toImportFailure('import_failed', TOO_MANY_RUNS) };
  return download(ctx, run, job);
}

async function end(
  ctx: UploadsContext,
  run: ImportRun,
  outcome: Exclude<ImportEnd, 'restart'>,
): Promise<void> {
  if (outcome === 'over') return;
  if ('stored' in outcome) return completeImport(ctx, outcome.stored);
  const { id, attempt } = run.asset;
  ctx.log.warn({ asset_id: id, attempt, code: outcome.failure.code }, 'an import failed');
  await failImport(ctx, run, outcome.failure);
}

async function download(
  ctx: UploadsContext,
  run: ImportRun,
  { signal, slot }: ImportJobRun,
): Promise<ImportEnd> {
  try {
    const work = (ended: AbortSignal, moved: MovedBytes) => transfer(ctx, run, { signal: ended, moved });
    const outcome = await whileSlotIsKept(ctx, { run, signal, slot, work });
    return outcome === 'timeout' ? { failure: toImportFailure('import_timeout') } : outcome;
  } catch (error) {
    return await toOutcome(ctx, run, error);
  }
}

/** Errors that are not failures of the import let the queue run the job again. */
async function toOutcome(ctx: UploadsContext, run: ImportRun, error: unknown): Promise<ImportEnd> {
  const problem = findProblem(error);
  if (problem?.reason === 'restart_required' || isHeldElsewhere(error)) return 'restart';
  const failure = problem ? toDownloadFailure(problem) : toStoreFailure(error);
  if (failure) return { failure };
  await uncountOutage(error, () => uncountRun(ctx, run));
  throw error;
}

/** The lease of a killed run has not expired yet. */
const isHeldElsewhere = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.code === 'CONFLICT' &&
  error.details?.reason === 'upload_in_progress';

/** The store reports an error of the download as its cause. */
function findProblem(error: unknown): OutboundError | undefined {
  const found = error instanceof Error && error.cause instanceof OutboundError ? error.cause : error;
  return found instanceof OutboundError ? found : undefined;
}

type Downloading = { readonly signal: AbortSignal; readonly moved: MovedBytes };

async function transfer(
  ctx: UploadsContext,
  run: ImportRun,
  { signal, moved }: Downloading,
): Promise<ImportEnd> {
  const { asset, url, headers } = run;
  const partial = await openPartial(ctx, run);
  let leased = partial?.leased;
  if (leased?.row.finished_at) return findStored(ctx, run);
  try {
    const request = { url, headers, signal, from: partial?.from };
    const opened = await openDownload(request, toDownloadOptions(ctx));
    try {
      const { totalBytes: length } = opened;
      const { announced_size_bytes: announced } = asset;
      if (announced !== null && length !== undefined && length !== announced)
        return { failure: toContentFailure('size_mismatch') };
      leased ??= await createPartial(ctx, run, opened);
      moved.isResumable = leased !== undefined;
      const received = { bytes: withProgress(ctx, run, { ...opened, leased, moved }), length };
      return leased
        ? await append(ctx, run, { leased, ...received })
        : { stored: await store(ctx, run, received) };
    } finally {
      opened.close();
    }
  } catch (error) {
    if (leased && findProblem(error)?.reason === 'restart_required') await discardPartial(ctx, leased);
    throw error;
  } finally {
    await leased?.release();
  }
}

const toDownloadOptions = ({ intake, settings, clocks }: UploadsContext): DownloadOptions => ({
  fetch: intake.outbound.fetchFile,
  wait: (ms, abort) => wait(ms, undefined, { signal: abort }),
  random: Math.random,
  now: clocks.now,
  maxBytes: settings.maxUploadBytes,
});

type Received = { readonly bytes: AsyncIterable<Buffer>; readonly length: number | undefined };

const store = (ctx: UploadsContext, { asset, uploadId }: ImportRun, received: Received): Promise<Asset> =>
  storeOriginal(ctx, asset, { uploadId, protocol: 'import', ...received });

type Appending = Received & { readonly leased: LeasedUpload };

/** What arrived stays stored, also if this throws. */
async function append(
  ctx: UploadsContext,
  run: ImportRun,
  { leased, bytes, length = 0 }: Appending,
): Promise<ImportEnd> {
  let failure: unknown;
  async function* withFailure() {
    try {
      yield* bytes;
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  const body = { length: length - leased.row.bytes_received, bytes: withFailure() };
  try {
    await appendBytes(ctx, run.asset, { leased, body });
  } catch (error) {
    throw failure ?? error;
  }
  return findStored(ctx, run);
}

async function findStored({ lifecycle }: UploadsContext, { asset }: ImportRun): Promise<ImportEnd> {
  const stored = await lifecycle.findAssetById(asset.id);
  return stored?.uploaded_at && stored.attempt === asset.attempt ? { stored } : 'over';
}

type Reading = Pick<Download, 'body' | 'totalBytes'> & {
  readonly leased: LeasedUpload | undefined;
  readonly moved: MovedBytes;
};

async function* withProgress(
  ctx: UploadsContext,
  run: ImportRun,
  { body, totalBytes, leased, moved }: Reading,
): AsyncGenerator<Buffer, void, void> {
  const start = leased?.row.bytes_received ?? 0;
  const recordProgress = createProgressRecorder(ctx, run, start);
  for await (const chunk of body) {
    moved.bytes += chunk.length;
    yield chunk;
    await recordProgress(toProgress(ctx, run, { bytes: start + moved.bytes, totalBytes }));
  }
}

/** A hosted provider gets the bytes in a second step, which counts them again. */
const toProgress = ({ providers }: UploadsContext, { asset }: ImportRun, progress: ImportProgress) =>
  providers.isHosted(asset)
    ? { ...progress, totalBytes: progress.totalBytes && 2 * progress.totalBytes, step: 'download' as const }
    : progress;
