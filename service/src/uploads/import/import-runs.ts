// Runs of an import: each downloads the file or continues a download, or continues the transfer to a hosted
// provider. Only the latest can store or complete it.
import type { Asset, Failure } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { JobSlot } from '../../platform/jobs/job-slot.ts';
import type { OutboundHeaders } from '../../platform/outbound/outbound-headers.ts';
import type { UploadsContext } from '../context.ts';
import { discardUploads } from '../original/leased-uploads.ts';
import { restartLost, startRun } from '../service-runs.ts';
import { keepsSource } from './import-failure.ts';
import { decideImportProgress, type ImportProgress, isProgressDue } from './import-progress.ts';
import {
  claimImport,
  deleteExpiredImports,
  deleteImport,
  extendImport,
  findCurrentRun,
  findPartialUpload,
  listAwaitingImports,
  raiseProgress,
  recordHeldRun,
} from './imports.sql.ts';
import type { TusUpload } from './transfer-requests.ts';

/** A tus upload at a hosted provider that a later run can continue. */
export type OpenTransfer = { readonly videoId: string; readonly upload: TusUpload };

/** The upload that holds the bytes so far, and the file that they are from. */
export type PartialFile = {
  readonly uploadId: string;
  readonly validator: string;
  readonly totalBytes: number;
};

export type ImportRun = {
  readonly asset: Asset;
  readonly uploadId: string;
  readonly url: string;
  readonly headers: OutboundHeaders;
  /** Of an adoption: whether its source is deleted once the asset has it. */
  readonly deletesSource: boolean;
  /** The upload at a hosted provider that an earlier run opened; null if there is none to continue. */
  readonly transfer: OpenTransfer | null;
  /** The bytes that earlier runs received; null if there are none to continue. */
  readonly partial: PartialFile | null;
  /** How long earlier runs of the attempt held a slot before they gave it back. */
  readonly heldMs: number;
  /** Number of runs in this attempt, including this one, without those that gave way or met an outage. */
  readonly runs: number;
};

/** Undefined if the import is over. */
export async function beginRun(
  ctx: UploadsContext,
  job: JobPayloads['import-asset'],
): Promise<ImportRun | undefined> {
  const started = await startRun(ctx, job, (run) => claimImport(ctx.db, run));
  if (!started) return undefined;
  const { asset, uploadId, claim } = started;
  const { url, deletes_source: deletesSource, runs, held_ms: heldMs } = claim;
  const transfer = claim.transfer as OpenTransfer | null;
  const partial = claim.partial as PartialFile | null;
  const headers = claim.headers as OutboundHeaders;
  return { asset, uploadId, url, headers, deletesSource, transfer, partial, heldMs, runs };
}

/** False when a later run has started, or the asset is deleted, has expired or is in another attempt. */
export const isCurrentRun = async (
  { db }: UploadsContext,
  { asset, uploadId }: ImportRun,
): Promise<boolean> =>
  (await findCurrentRun(db, { assetId: asset.id, attempt: asset.attempt, uploadId })) !== undefined;

/** `hasProgress`: the next run continues after bytes that this one moved. */
type HeldSlot = { readonly slot: JobSlot; readonly heldMs: number; readonly hasProgress: boolean };

/** Gives the slot of a run to an owner that waits; nothing if a later run has started. */
export const deferRun = (
  { db }: UploadsContext,
  { asset, uploadId }: ImportRun,
  { slot, heldMs, hasProgress }: HeldSlot,
): Promise<void> =>
  db.transaction(async (tx) => {
    const held = { assetId: asset.id, uploadId, heldMs: Math.round(heldMs), isCounted: !hasProgress };
    if (await recordHeldRun(tx, held)) await slot.giveBack(tx);
  });

/** Takes the run out of the count of its attempt; nothing if a later run has started. */
export const uncountRun = ({ db }: UploadsContext, { asset, uploadId }: ImportRun): Promise<unknown> =>
  recordHeldRun(db, { assetId: asset.id, uploadId, heldMs: 0, isCounted: false });

export const restartLostImports = (ctx: UploadsContext): Promise<void> =>
  restartLost(ctx, async (afterId, limit) =>
    (await listAwaitingImports(ctx.db, afterId, limit)).map(({ id: assetId, attempt, url }) => ({
      name: toJobName(url),
      payload: { assetId, attempt },
    })),
  );

/** Ignores a run that is behind the one that it replaced. */
async function recordProgress(
  { db, lifecycle }: UploadsContext,
  { asset: { id, attempt }, uploadId }: ImportRun,
  progress: ImportProgress,
): Promise<void> {
  if (!(await raiseProgress(db, { assetId: id, uploadId }, progress.bytes))) return;
  await lifecycle.update({ assetId: id }, (asset) => decideImportProgress(asset, attempt, progress));
}

/**
 * Records the progress of a run where it is due. `startBytes` were counted before. The recorder never
 * rejects: an import does not end because one of its events cannot be recorded.
 */
export function createProgressRecorder(ctx: UploadsContext, run: ImportRun, startBytes = 0) {
  let last = { bytes: startBytes, atMs: performance.now() };
  return async (progress: ImportProgress): Promise<void> => {
    const atMs = performance.now();
    if (!isProgressDue(progress, last, atMs)) return;
    last = { bytes: progress.bytes, atMs };
    try {
      await recordProgress(ctx, run, progress);
    } catch (err) {
      ctx.log.warn({ asset_id: run.asset.id, err }, 'the progress of an import is not recorded');
    }
  };
}

/** Changes nothing if a later run has started. The source stays stored only where a retry could read it. */
export async function failImport(ctx: UploadsContext, run: ImportRun, failure: Failure): Promise<void> {
  if (!(await isCurrentRun(ctx, run))) return;
  const { asset } = run;
  const partial = await findPartialUpload(ctx.db, asset.id);
  await ctx.lifecycle.refuseAsset(asset, failure);
  if (!keepsSource(failure)) await deleteImport(ctx.db, asset.id);
  if (partial) await discardUploads(ctx, asset.id, [partial]);
}

/**
 * The job that reads the source of a failed import again, which stays until the given time. Undefined if
 * it is not stored any more.
 */
export async function keepImportSource(
  { db }: UploadsContext,
  assetId: string,
  until: Date,
): Promise<'import-asset' | 'adopt-asset' | undefined> {
  const kept = await extendImport(db, assetId, until);
  return kept && toJobName(kept.url);
}

const toJobName = (url: string): 'import-asset' | 'adopt-asset' =>
  /^https?:/.test(url) ? 'import-asset' : 'adopt-asset';

export const removeExpiredSources = ({ db }: UploadsContext): Promise<unknown> => deleteExpiredImports(db);
