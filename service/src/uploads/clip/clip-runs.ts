// Runs of a clip: each cuts the source anew, and only the latest can store what it cut.
import type { ClipSource } from '@mediary/contract/schemas/clip-source';
import type { Asset, Failure } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { refuseAsset } from '../../lifecycle/reports.ts';
import type { Bound } from '../../platform/bind.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { claimClip, findCurrentClip } from './clips.sql.ts';
import { completeStored, findAwaiting, type ServiceRunNeeds, startRun } from '../original/service-runs.ts';

type ClipRunNeeds = ServiceRunNeeds & {
  readonly db: Queries;
  readonly refuseAsset: Bound<typeof refuseAsset>;
};

export type ClipRun = {
  readonly asset: Asset;
  readonly clipOf: ClipSource;
  readonly uploadId: string;
  /** Number of runs in this attempt, including this one. */
  readonly runs: number;
};

/** Undefined if the clip is over. */
export async function beginClip(
  needs: ClipRunNeeds,
  job: JobPayloads['clip-asset'],
): Promise<ClipRun | undefined> {
  const started = await startRun(needs, job, (run) => claimClip(needs.db, run));
  if (!started || !isClip(started.asset)) return undefined;
  const { asset, uploadId, claim } = started;
  return { asset, clipOf: asset.clip_of, uploadId, runs: claim.runs };
}

type AwaitingClip = Asset & { readonly clip_of: ClipSource };

/** The clip while it waits for the bytes of this attempt. */
export async function findAwaitingClip(
  needs: Pick<ClipRunNeeds, 'findAssetById'>,
  job: JobPayloads['clip-asset'],
): Promise<AwaitingClip | undefined> {
  const asset = await findAwaiting(needs, job);
  return asset && isClip(asset) ? asset : undefined;
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

/** Refused bytes end the clip. */
export const completeClip = async (needs: ClipRunNeeds, asset: Asset): Promise<void> => {
  await completeStored(needs, asset);
};
