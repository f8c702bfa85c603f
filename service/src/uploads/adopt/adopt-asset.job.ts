// Job that adopts an asset: lets the store copy the source to its original, and goes on as an import does.
import type { Asset, Failure } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { type CopiedSource, SourceError } from '../../storage/object-store.ts';
import { toContentFailure } from '../content-check.ts';
import type { UploadsContext } from '../context.ts';
import { toAdoptionFailure, toImportFailure, toStoreFailure } from '../import/import-failure.ts';
import { beginRun, failImport, type ImportRun, uncountRun } from '../import/import-runs.ts';
import { whileCurrent } from '../import/run-watch.ts';
import { completeImport } from '../import/transfer-import.ts';
import { storeCopy } from '../original/store-original.ts';
import { uncountOutage } from '../service-runs.ts';
import { getSources } from './adoptions.ts';

/** Limit of runs that ended with a crash of their worker. */
const MAX_RUNS = 10;
/** How long the checks of most files take. */
const CHECK_MS = 1000;

type AdoptionEnd = { readonly stored: Asset } | { readonly failure: Failure } | 'over';

export const adoptAssetJob =
  (ctx: UploadsContext) =>
  async ({ payload, signal }: JobRun<JobPayloads['adopt-asset']>): Promise<void> => {
    const run = await beginRun(ctx, payload);
    if (!run) return;
    const outcome = await execute(ctx, run, signal);
    if (outcome === 'over') return;
    if ('stored' in outcome) return completeImport(ctx, outcome.stored);
    const { id, attempt } = run.asset;
    ctx.log.warn({ asset_id: id, attempt, code: outcome.failure.code }, 'an adoption failed');
    await failImport(ctx, run, outcome.failure);
  };

async function execute(ctx: UploadsContext, run: ImportRun, signal: AbortSignal): Promise<AdoptionEnd> {
  // An earlier run stored the bytes and could not complete them.
  if (run.asset.uploaded_at) return { stored: run.asset };
  if (run.runs > MAX_RUNS) return { failure: toAdoptionFailure('every attempt ended early') };
  try {
    const outcome = await whileCurrent(ctx, { run, signal, work: (ended) => copy(ctx, run, ended) });
    return outcome === 'timeout' ? { failure: toImportFailure('import_timeout') } : outcome;
  } catch (error) {
    if (error instanceof SourceError) return { failure: toAdoptionFailure(error.message) };
    const failure = toStoreFailure(error);
    if (failure) return { failure };
    await uncountOutage(error, () => uncountRun(ctx, run));
    throw error;
  }
}

async function copy(ctx: UploadsContext, run: ImportRun, signal: AbortSignal): Promise<AdoptionEnd> {
  const { asset, uploadId, url, deletesSource } = run;
  const sources = getSources(ctx);
  const source = await sources.find(url);
  const { sizeBytes: length } = source;
  if (asset.announced_size_bytes !== length) return { failure: toContentFailure('size_mismatch') };
  const stored = await storeCopy<CopiedSource>(ctx, asset, {
    uploadId,
    protocol: 'import',
    length,
    copyTo: (to) => sources.copy(source, { to, isMove: deletesSource, signal }),
    toJobs: ({ version }) => {
      const payload = { assetId: asset.id, uploadId, url, version };
      const startAfter = new Date(ctx.clocks.now().getTime() + CHECK_MS);
      return deletesSource ? [{ name: 'delete-source', payload, startAfter }] : [];
    },
  });
  return { stored };
}
