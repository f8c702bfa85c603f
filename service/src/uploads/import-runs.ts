// Runs of an import: each downloads the file from its first byte, and only the latest can store it.
import type { Asset, Failure } from '../assets/asset.ts';
import type { JobPayloads } from '../jobs.ts';
import type { refuseAsset } from '../lifecycle/reports.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import type { Bound } from '../platform/bind.ts';
import type { OutboundHeaders } from '../platform/outbound/outbound-headers.ts';
import type { Database } from '../platform/postgres/database.ts';
import { keepsSource } from './import-failure.ts';
import { decideImportProgress, type ImportProgress } from './import-progress.ts';
import {
  claimImport,
  deleteExpiredImports,
  deleteImport,
  extendImport,
  findCurrentRun,
} from './imports.sql.ts';
import { completeStored, type ServiceRunNeeds, startRun } from './service-runs.ts';

type ImportRunNeeds = ServiceRunNeeds & {
  readonly db: Database;
  readonly assetStore: Pick<AssetStore, 'update'>;
  readonly refuseAsset: Bound<typeof refuseAsset>;
};

export type ImportRun = {
  readonly asset: Asset;
  readonly uploadId: string;
  readonly url: string;
  readonly headers: OutboundHeaders;
  /** Of this attempt, this one included. */
  readonly runs: number;
};

/** Undefined if the import is over. */
export async function beginRun(
  needs: ImportRunNeeds,
  job: JobPayloads['import-asset'],
): Promise<ImportRun | undefined> {
  const started = await startRun(needs, job, (run) => claimImport(needs.db, run));
  if (!started) return undefined;
  const { asset, uploadId, claim } = started;
  return { asset, uploadId, url: claim.url, headers: claim.headers as OutboundHeaders, runs: claim.runs };
}

/** False when a later run has started, or the asset is deleted, has expired or is in another attempt. */
export const isCurrentRun = async (
  { db }: ImportRunNeeds,
  { asset, uploadId }: ImportRun,
): Promise<boolean> =>
  (await findCurrentRun(db, { assetId: asset.id, attempt: asset.attempt, uploadId })) !== undefined;

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

/** Refused bytes end the import. */
export async function completeImport(needs: ImportRunNeeds, asset: Asset): Promise<void> {
  if (!(await completeStored(needs, asset))) await deleteImport(needs.db, asset.id);
}

/** True if the source of a failed import is still stored; it then stays until the given time. */
export const keepImportSource = async (
  { db }: Pick<ImportRunNeeds, 'db'>,
  assetId: string,
  until: Date,
): Promise<boolean> => (await extendImport(db, assetId, until)) !== undefined;

export const removeExpiredSources = ({ db }: Pick<ImportRunNeeds, 'db'>): Promise<unknown> =>
  deleteExpiredImports(db);
