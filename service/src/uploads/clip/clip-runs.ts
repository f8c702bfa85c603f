// Runs of a clip: each cuts the source anew, and only the latest can store what it cut.
import type { ClipSource } from '@mediary/contract/schemas/assets/clip-source';
import type { Asset, Failure } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { UploadsContext } from '../context.ts';
import { completeStored, findAwaiting, restartLost, startRun } from '../service-runs.ts';
import { claimClip, findCurrentClip, findSpaceWait, listAwaitingClips, uncountClipRun } from './clips.sql.ts';

export type ClipRun = {
  readonly asset: Asset;
  readonly clipOf: ClipSource;
  readonly uploadId: string;
  /** Number of runs in this attempt, including this one, without those that met an outage. */
  readonly runs: number;
};

/** Undefined if the clip is over. */
export async function beginClip(
  ctx: UploadsContext,
  job: JobPayloads['clip-asset'],
): Promise<ClipRun | undefined> {
  const started = await startRun(ctx, job, (run) => claimClip(ctx.db, run));
  if (!started || !isClip(started.asset)) return undefined;
  const { asset, uploadId, claim } = started;
  return { asset, clipOf: asset.clip_of, uploadId, runs: claim.runs };
}

type AwaitingClip = Asset & { readonly clip_of: ClipSource };

/** The clip while it waits for the bytes of this attempt. */
export async function findAwaitingClip(
  ctx: UploadsContext,
  job: JobPayloads['clip-asset'],
): Promise<AwaitingClip | undefined> {
  const asset = await findAwaiting(ctx, job);
  return asset && isClip(asset) ? asset : undefined;
}

const isClip = (asset: Asset): asset is AwaitingClip => asset.clip_of !== null;

/** `over`: a later run has started, or the asset is deleted, has expired or is in another attempt. */
type ClipState = 'current' | 'source_deleted' | 'over';

export async function findClipState(
  { db }: UploadsContext,
  { asset: { id: assetId, attempt }, uploadId }: ClipRun,
): Promise<ClipState> {
  const current = await findCurrentClip(db, { assetId, attempt, uploadId });
  if (!current) return 'over';
  return current.is_source_deleted ? 'source_deleted' : 'current';
}

/** Takes the run out of the count of its attempt; nothing if a later run has started. */
export const uncountRun = ({ db }: UploadsContext, { asset, uploadId }: ClipRun): Promise<unknown> =>
  uncountClipRun(db, { assetId: asset.id, uploadId });

export const restartLostClips = (ctx: UploadsContext): Promise<void> =>
  restartLost(ctx, async (afterId, limit) =>
    (await listAwaitingClips(ctx.db, afterId, limit)).map(({ id: assetId, attempt }) => ({
      name: 'clip-asset',
      payload: { assetId, attempt },
    })),
  );

export type Space = { readonly neededBytes: number; readonly freeBytes: number };

/** The log and the timeline show the first wait of an attempt. */
export async function recordSpaceWait(
  ctx: UploadsContext,
  asset: Asset,
  { neededBytes, freeBytes }: Space,
): Promise<void> {
  if (await findSpaceWait(ctx.db, asset)) return;
  const facts = { needed_bytes: neededBytes, free_bytes: freeBytes };
  ctx.log.warn({ asset_id: asset.id, ...facts }, 'a clip waits for space in the scratch folder');
  await ctx.lifecycle.recordCheck(asset, {
    data: { source: 'service', reason: 'scratch_disk_full', ...facts },
    checkAt: asset.reconcile_at,
  });
}

/** Changes nothing if a later run has started. */
export async function failClip(ctx: UploadsContext, run: ClipRun, failure: Failure): Promise<void> {
  if ((await findClipState(ctx, run)) !== 'over') await ctx.lifecycle.refuseAsset(run.asset, failure);
}

/** Refused bytes end the clip. */
export const completeClip = async (ctx: UploadsContext, asset: Asset): Promise<void> => {
  await completeStored(ctx, asset);
};
