// Runs of a clip: each cuts the source anew, and only the latest can store what it cut.
import { randomUUID } from 'node:crypto';
import type { ClipSource } from '@mediary/contract/schemas/clip-source';
import type { Asset, Failure } from '../assets/asset.ts';
import type { findAssetById } from '../assets/asset-lookup.ts';
import type { JobPayloads } from '../jobs.ts';
import type { refuseAsset } from '../lifecycle/reports.ts';
import type { Bound } from '../platform/bind.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { claimClip, findCurrentClip } from './clips.sql.ts';
import type { completeUpload } from './completion.ts';
import { isAwaited } from './import-progress.ts';
import type { abandonUpload } from './store-original.ts';

type ClipRunNeeds = {
  readonly db: Queries;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly refuseAsset: Bound<typeof refuseAsset>;
  readonly abandonUpload: Bound<typeof abandonUpload>;
  readonly completeUpload: Bound<typeof completeUpload>;
};

export type ClipRun = {
  readonly asset: Asset;
  readonly clipOf: ClipSource;
  readonly uploadId: string;
  /** Of this attempt, this one included. */
  readonly runs: number;
};

/** Starts a run and ends the one before it, whose worker may be dead. Undefined if the clip is over. */
export async function beginClip(
  needs: ClipRunNeeds,
  { assetId, attempt }: JobPayloads['clip-asset'],
): Promise<ClipRun | undefined> {
  if (!(await findAwaitingClip(needs, { assetId, attempt }))) return undefined;
  const uploadId = randomUUID();
  const claim = await claimClip(needs.db, { assetId, attempt, uploadId });
  if (!claim) return undefined;
  if (claim.previous_upload_id !== null) await needs.abandonUpload(assetId, claim.previous_upload_id);
  const asset = await findAwaitingClip(needs, { assetId, attempt });
  return asset && { asset, clipOf: asset.clip_of, uploadId, runs: claim.runs };
}

type AwaitingClip = Asset & { readonly clip_of: ClipSource };

/** The clip while it waits for the bytes of this attempt. */
export async function findAwaitingClip(
  { findAssetById: find }: Pick<ClipRunNeeds, 'findAssetById'>,
  { assetId, attempt }: JobPayloads['clip-asset'],
): Promise<AwaitingClip | undefined> {
  const asset = await find(assetId);
  return asset && isAwaited(asset, attempt) && isClip(asset) ? asset : undefined;
}

const isClip = (asset: Asset): asset is AwaitingClip => asset.clip_of !== null;

/** `over`: a later run has started, or the asset is deleted, has expired or is in another attempt. */
type ClipState = 'current' | 'source_deleted' | 'over';

export async function findClipState(
  { db }: Pick<ClipRunNeeds, 'db'>,
  { asset: { id: assetId, attempt }, uploadId }: ClipRun,
): Promise<ClipState> {
  const current = await findCurrentClip(db, { assetId, attempt, uploadId });
  if (!current) return 'over';
  return current.is_source_deleted ? 'source_deleted' : 'current';
}

/** Changes nothing if a later run has started. */
export async function failClip(needs: ClipRunNeeds, run: ClipRun, failure: Failure): Promise<void> {
  if ((await findClipState(needs, run)) !== 'over') await needs.refuseAsset(run.asset, failure);
}

/** Checks the stored bytes as `complete` does, and starts processing. Refused bytes end the clip. */
export async function completeClip(needs: ClipRunNeeds, asset: Asset): Promise<void> {
  try {
    await needs.completeUpload(asset, { source: 'service' });
  } catch (error) {
    const seen = await needs.findAssetById(asset.id);
    if (seen?.stream_status !== 'failed') throw error;
  }
}
