// Runs of an import: each downloads the file from its first byte, and only the latest can store it.
import { randomUUID } from 'node:crypto';
import type { Asset, Failure } from '../assets/asset.ts';
import type { findAssetById } from '../assets/asset-lookup.ts';
import type { JobPayloads } from '../jobs.ts';
import type { refuseAsset } from '../lifecycle/reports.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import type { Bound } from '../platform/bind.ts';
import type { OutboundHeaders } from '../platform/outbound/outbound-headers.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { completeUpload } from './completion.ts';
import { keepsSource } from './import-failure.ts';
import { decideImportProgress, type ImportProgress, isAwaited } from './import-progress.ts';
import {
  claimImport,
  deleteExpiredImports,
  deleteImport,
  extendImport,
  findCurrentRun,
} from './imports.sql.ts';
import type { abandonUpload } from './store-original.ts';

export type ImportRunNeeds = {
  readonly db: Database;
  readonly assetStore: Pick<AssetStore, 'update'>;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly refuseAsset: Bound<typeof refuseAsset>;
  readonly abandonUpload: Bound<typeof abandonUpload>;
  readonly completeUpload: Bound<typeof completeUpload>;
};

export type ImportRun = {
  readonly asset: Asset;
  readonly uploadId: string;
  readonly url: string;
  readonly headers: OutboundHeaders;
  /** Of this attempt, this one included. */
  readonly runs: number;
};

/** Starts a run and ends the one before it, whose worker may be dead. Undefined if the import is over. */
export async function beginRun(
  needs: ImportRunNeeds,
  { assetId, attempt }: JobPayloads['import-asset'],
): Promise<ImportRun | undefined> {
  if (!(await findAwaiting(needs, assetId, attempt))) return undefined;
  const uploadId = randomUUID();
  const claim = await claimImport(needs.db, { assetId, attempt, uploadId });
  if (!claim) return undefined;
  if (claim.previous_upload_id !== null) await needs.abandonUpload(assetId, claim.previous_upload_id);
  const asset = await findAwaiting(needs, assetId, attempt);
  return (
    asset && {
      asset,
      uploadId,
      url: claim.url,
      headers: claim.headers as OutboundHeaders,
      runs: claim.runs,
    }
  );
}

/** False when a later run has started, or the asset is deleted, has expired or is in another attempt. */
export const isCurrentRun = async (
  { db }: ImportRunNeeds,
  { asset, uploadId }: ImportRun,
): Promise<boolean> =>
  (await findCurrentRun(db, { assetId: asset.id, attempt: asset.attempt, uploadId })) !== undefined;

async function findAwaiting(
  { findAssetById: find }: ImportRunNeeds,
  assetId: string,
  attempt: number,
): Promise<Asset | undefined> {
  const asset = await find(assetId);
  return asset && isAwaited(asset, attempt) ? asset : undefined;
}

export const recordImportProgress = (
  { assetStore }: ImportRunNeeds,
  { asset: { id, attempt } }: ImportRun,
  progress: ImportProgress,
): Promise<unknown> =>
  assetStore.update({ assetId: id }, (asset) => decideImportProgress(asset, attempt, progress));

/** Changes nothing if a later run has started. The source stays stored only where a retry could read it. */
export async function failImport(needs: ImportRunNeeds, run: ImportRun, failure: Failure): Promise<void> {
  if (!(await isCurrentRun(needs, run))) return;
  const { asset } = run;
  await needs.refuseAsset(asset, failure);
  if (!keepsSource(failure)) await deleteImport(needs.db, asset.id);
}

/** Checks the stored bytes as `complete` does, and starts processing. Refused bytes end the import. */
export async function completeImport(needs: ImportRunNeeds, asset: Asset): Promise<void> {
  try {
    await needs.completeUpload(asset, { source: 'service' });
  } catch (error) {
    const seen = await needs.findAssetById(asset.id);
    if (seen?.stream_status !== 'failed') throw error;
    await deleteImport(needs.db, asset.id);
  }
}

/** True if the source of a failed import is still stored; it then stays until the given time. */
export const keepImportSource = async (
  { db }: Pick<ImportRunNeeds, 'db'>,
  assetId: string,
  until: Date,
): Promise<boolean> => (await extendImport(db, assetId, until)) !== undefined;

export const removeExpiredSources = ({ db }: Pick<ImportRunNeeds, 'db'>): Promise<unknown> =>
  deleteExpiredImports(db);
