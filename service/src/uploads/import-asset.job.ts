// Job that imports an asset: downloads its bytes, stores them as its original, and completes the upload or
// starts the transfer to a hosted provider.
import { setTimeout as wait } from 'node:timers/promises';
import type { Asset, Failure } from '../assets/asset.ts';
import type { JobPayloads } from '../jobs.ts';
import type { Bound } from '../platform/bind.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import type { OutboundFetch } from '../platform/outbound/guarded-fetch.ts';
import { OutboundError } from '../platform/outbound/outbound-error.ts';
import { type Download, openDownload } from '../platform/outbound/resumable-download.ts';
import type { isHosted } from '../providers/hosted-playback.ts';
import { toContentFailure } from './content-check.ts';
import { toDownloadFailure, toImportFailure, toStoreFailure } from './import-failure.ts';
import type { ImportProgress } from './import-progress.ts';
import type * as runOperations from './import-runs.ts';
import type { ImportRun } from './import-runs.ts';
import { whileCurrent } from './run-watch.ts';
import type { storeOriginal } from './store-original.ts';

export type ImportJobNeeds = {
  readonly beginRun: Bound<typeof runOperations.beginRun>;
  readonly isCurrentRun: Bound<typeof runOperations.isCurrentRun>;
  readonly createProgressRecorder: Bound<typeof runOperations.createProgressRecorder>;
  readonly failImport: Bound<typeof runOperations.failImport>;
  readonly completeImport: Bound<typeof runOperations.completeImport>;
  readonly storeOriginal: Bound<typeof storeOriginal>;
  readonly isHosted: Bound<typeof isHosted>;
  readonly fetch: OutboundFetch;
  readonly maxUploadBytes: number;
  readonly importTimeoutSeconds: number;
  readonly now: () => Date;
  readonly log: { warn(facts: object, message: string): void };
};

/** Limit of runs that ended with a crash, or with a cut after which the server cannot continue. */
const MAX_RUNS = 10;
const RESTART_DELAY_MS = 500;

type Outcome = { readonly stored: Asset } | { readonly failure: Failure } | 'restart' | 'over';

export const importAssetJob =
  (needs: ImportJobNeeds) =>
  async ({ payload, signal }: JobRun<JobPayloads['import-asset']>): Promise<void> => {
    for (;;) {
      const run = await needs.beginRun(payload);
      if (!run) return;
      const outcome = await execute(needs, run, signal);
      if (outcome !== 'restart') return end(needs, run, outcome);
      await wait(RESTART_DELAY_MS * run.runs, undefined, { signal });
    }
  };

async function execute(needs: ImportJobNeeds, run: ImportRun, signal: AbortSignal): Promise<Outcome> {
  // An earlier run stored the bytes and could not complete them.
  if (run.asset.uploaded_at) return { stored: run.asset };
  if (run.runs > MAX_RUNS) return { failure: toImportFailure('import_failed') };
  return download(needs, run, signal);
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

async function download(needs: ImportJobNeeds, run: ImportRun, signal: AbortSignal): Promise<Outcome> {
  try {
    const work = (ended: AbortSignal) => transfer(needs, run, ended);
    const outcome = await whileCurrent(needs, { run, signal, work });
    return outcome === 'timeout' ? { failure: toImportFailure('import_timeout') } : outcome;
  } catch (error) {
    return toOutcome(error);
  }
}

/** Errors that are not failures of the import let the queue run the job again. */
function toOutcome(error: unknown): Outcome {
  const problem = findProblem(error);
  if (problem?.reason === 'restart_required') return 'restart';
  const failure = problem ? toDownloadFailure(problem) : toStoreFailure(error);
  if (!failure) throw error;
  return { failure };
}

/** The store reports an error of the download as its cause. */
function findProblem(error: unknown): OutboundError | undefined {
  const found = error instanceof Error && error.cause instanceof OutboundError ? error.cause : error;
  return found instanceof OutboundError ? found : undefined;
}

async function transfer(needs: ImportJobNeeds, run: ImportRun, signal: AbortSignal): Promise<Outcome> {
  const { asset, uploadId, url, headers } = run;
  const opened = await openDownload(
    { url, headers, signal },
    {
      fetch: needs.fetch,
      wait: (ms, abort) => wait(ms, undefined, { signal: abort }),
      random: Math.random,
      now: needs.now,
      maxBytes: needs.maxUploadBytes,
    },
  );
  try {
    const { totalBytes: length } = opened;
    const { announced_size_bytes: announced } = asset;
    if (announced !== null && length !== undefined && length !== announced)
      return { failure: toContentFailure('size_mismatch') };
    const bytes = withProgress(needs, run, opened);
    return { stored: await needs.storeOriginal(asset, { uploadId, protocol: 'import', length, bytes }) };
  } finally {
    opened.close();
  }
}

async function* withProgress(
  needs: ImportJobNeeds,
  run: ImportRun,
  { body, totalBytes }: Download,
): AsyncGenerator<Buffer, void, void> {
  const recordProgress = needs.createProgressRecorder(run);
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    yield chunk;
    await recordProgress(toProgress(needs, run, { bytes, totalBytes }));
  }
}

/** A hosted provider gets the bytes in a second step, which counts them again. */
const toProgress = ({ isHosted: hosted }: ImportJobNeeds, { asset }: ImportRun, progress: ImportProgress) =>
  hosted(asset)
    ? { ...progress, totalBytes: progress.totalBytes && 2 * progress.totalBytes, step: 'download' as const }
    : progress;
