// Job that imports an asset: downloads its bytes, stores them as its original, and completes the upload or
// starts the transfer to a hosted provider.
import { setTimeout as wait } from 'node:timers/promises';
import type { Asset, Failure } from '../../assets/asset.ts';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { Bound } from '../../platform/bind.ts';
import type { SlotRun } from '../../platform/jobs/job-queue.ts';
import type { OutboundFetch } from '../../platform/outbound/guarded-fetch.ts';
import { ServiceError } from '../../platform/http/errors.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import {
  type Download,
  type DownloadNeeds,
  openDownload,
} from '../../platform/outbound/resumable-download.ts';
import type { isHosted } from '../../providers/hosted-playback.ts';
import { toContentFailure } from '../content-check.ts';
import { toDownloadFailure, toImportFailure, TOO_MANY_RUNS, toStoreFailure } from './import-failure.ts';
import type { ImportProgress } from './import-progress.ts';
import type * as runOperations from './import-runs.ts';
import type { ImportRun } from './import-runs.ts';
import type { LeasedUpload } from '../original/leased-uploads.ts';
import type * as partialOperations from './partial-imports.ts';
import type { appendBytes } from '../tus/resumable-bytes.ts';
import { type MovedBytes, whileSlotIsKept } from './run-watch.ts';
import type { storeOriginal } from '../original/store-original.ts';

export type ImportJobNeeds = {
  readonly beginRun: Bound<typeof runOperations.beginRun>;
  readonly isCurrentRun: Bound<typeof runOperations.isCurrentRun>;
  readonly createProgressRecorder: Bound<typeof runOperations.createProgressRecorder>;
  readonly failImport: Bound<typeof runOperations.failImport>;
  readonly completeImport: Bound<typeof runOperations.completeImport>;
  readonly deferRun: Bound<typeof runOperations.deferRun>;
  readonly openPartial: Bound<typeof partialOperations.openPartial>;
  readonly createPartial: Bound<typeof partialOperations.createPartial>;
  readonly discardPartial: Bound<typeof partialOperations.discardPartial>;
  readonly appendBytes: Bound<typeof appendBytes>;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly storeOriginal: Bound<typeof storeOriginal>;
  readonly isHosted: Bound<typeof isHosted>;
  readonly fetch: OutboundFetch;
  readonly maxUploadBytes: number;
  readonly importTimeoutSeconds: number;
  readonly now: () => Date;
  readonly log: { warn(facts: object, message: string): void };
};

/** Limit of runs that ended with a crash, or without bytes from which the next one continues. */
const MAX_RUNS = 10;
const RESTART_DELAY_MS = 500;

type Outcome = { readonly stored: Asset } | { readonly failure: Failure } | 'restart' | 'over';
type ImportJobRun = Pick<SlotRun<JobPayloads['import-asset']>, 'signal' | 'slot'>;

export const importAssetJob =
  (needs: ImportJobNeeds) =>
  async ({ payload, signal, slot }: SlotRun<JobPayloads['import-asset']>): Promise<void> => {
    for (;;) {
      const run = await needs.beginRun(payload);
      if (!run) return;
      const outcome = await execute(needs, run, { signal, slot });
      if (outcome !== 'restart') return end(needs, run, outcome);
      if (await slot.isWanted()) return needs.deferRun(run, { slot, heldMs: 0, hasProgress: false });
      await wait(RESTART_DELAY_MS * run.runs, undefined, { signal });
    }
  };

async function execute(needs: ImportJobNeeds, run: ImportRun, job: ImportJobRun): Promise<Outcome> {
  // An earlier run stored the bytes and could not complete them.
  if (run.asset.uploaded_at) return { stored: run.asset };
  if (run.runs > MAX_RUNS) return { failure: toImportFailure('import_failed', TOO_MANY_RUNS) };
  return download(needs, run, job);
}

async function end(
  needs: ImportJobNeeds,
  run: ImportRun,
  outcome: Exclude<Outcome, 'restart'>,
): Promise<void> {
  if (outcome === 'over') return;
  if ('stored' in outcome) return needs.completeImport(outcome.stored);
  const { id, attempt } = run.asset;
  needs.log.warn({ asset_id: id, attempt, code: outcome.failure.code }, 'an import failed');
  await needs.failImport(run, outcome.failure);
}

async function download(
  needs: ImportJobNeeds,
  run: ImportRun,
  { signal, slot }: ImportJobRun,
): Promise<Outcome> {
  try {
    const work = (ended: AbortSignal, moved: MovedBytes) => transfer(needs, run, { signal: ended, moved });
    const outcome = await whileSlotIsKept(needs, { run, signal, slot, work });
    return outcome === 'timeout' ? { failure: toImportFailure('import_timeout') } : outcome;
  } catch (error) {
    return toOutcome(error);
  }
}

/** Errors that are not failures of the import let the queue run the job again. */
function toOutcome(error: unknown): Outcome {
  const problem = findProblem(error);
  if (problem?.reason === 'restart_required' || isHeldElsewhere(error)) return 'restart';
  const failure = problem ? toDownloadFailure(problem) : toStoreFailure(error);
  if (!failure) throw error;
  return { failure };
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
  needs: ImportJobNeeds,
  run: ImportRun,
  { signal, moved }: Downloading,
): Promise<Outcome> {
  const { asset, url, headers } = run;
  const partial = await needs.openPartial(run);
  let leased = partial?.leased;
  if (leased?.row.finished_at) return findStored(needs, run);
  try {
    const request = { url, headers, signal, from: partial?.from };
    const opened = await openDownload(request, toDownloadNeeds(needs));
    try {
      const { totalBytes: length } = opened;
      const { announced_size_bytes: announced } = asset;
      if (announced !== null && length !== undefined && length !== announced)
        return { failure: toContentFailure('size_mismatch') };
      leased ??= await needs.createPartial(run, opened);
      moved.isResumable = leased !== undefined;
      const received = { bytes: withProgress(needs, run, { ...opened, leased, moved }), length };
      return leased
        ? await append(needs, run, { leased, ...received })
        : { stored: await store(needs, run, received) };
    } finally {
      opened.close();
    }
  } catch (error) {
    if (leased && findProblem(error)?.reason === 'restart_required') await needs.discardPartial(leased);
    throw error;
  } finally {
    await leased?.release();
  }
}

const toDownloadNeeds = ({ fetch, maxUploadBytes, now }: ImportJobNeeds): DownloadNeeds => ({
  fetch,
  wait: (ms, abort) => wait(ms, undefined, { signal: abort }),
  random: Math.random,
  now,
  maxBytes: maxUploadBytes,
});

type Received = { readonly bytes: AsyncIterable<Buffer>; readonly length: number | undefined };

const store = (needs: ImportJobNeeds, { asset, uploadId }: ImportRun, received: Received): Promise<Asset> =>
  needs.storeOriginal(asset, { uploadId, protocol: 'import', ...received });

type Appending = Received & { readonly leased: LeasedUpload };

/** What arrived stays stored, also if this throws. */
async function append(
  needs: ImportJobNeeds,
  run: ImportRun,
  { leased, bytes, length = 0 }: Appending,
): Promise<Outcome> {
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
    await needs.appendBytes(run.asset, { leased, body });
  } catch (error) {
    throw failure ?? error;
  }
  return findStored(needs, run);
}

async function findStored({ findAssetById: find }: ImportJobNeeds, { asset }: ImportRun): Promise<Outcome> {
  const stored = await find(asset.id);
  return stored?.uploaded_at && stored.attempt === asset.attempt ? { stored } : 'over';
}

type Reading = Pick<Download, 'body' | 'totalBytes'> & {
  readonly leased: LeasedUpload | undefined;
  readonly moved: MovedBytes;
};

async function* withProgress(
  needs: ImportJobNeeds,
  run: ImportRun,
  { body, totalBytes, leased, moved }: Reading,
): AsyncGenerator<Buffer, void, void> {
  const start = leased?.row.bytes_received ?? 0;
  const recordProgress = needs.createProgressRecorder(run, start);
  for await (const chunk of body) {
    moved.bytes += chunk.length;
    yield chunk;
    await recordProgress(toProgress(needs, run, { bytes: start + moved.bytes, totalBytes }));
  }
}

/** A hosted provider gets the bytes in a second step, which counts them again. */
const toProgress = ({ isHosted: hosted }: ImportJobNeeds, { asset }: ImportRun, progress: ImportProgress) =>
  hosted(asset)
    ? { ...progress, totalBytes: progress.totalBytes && 2 * progress.totalBytes, step: 'download' as const }
    : progress;
