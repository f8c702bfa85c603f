// Settles findings of a storage check. Looks at each again first: the check may have found it hours ago.
import { type Asset, isPurged } from '../../assets/asset.ts';
import type { ObjectKey } from '../../storage/object-key.ts';
import type { UpkeepContext } from '../context.ts';
import { VIDEO_MISSING } from '../failures.ts';
import { isOrphan, parseKey } from '../orphan.ts';
import { compareAssets } from './asset-objects.ts';
import type { CheckOptions, Finding } from './check.sql.ts';
import { findObjectOwner, mayBeOnlyCopy } from './stored-objects.ts';

type Repair = (ctx: UpkeepContext, finding: Finding, options: CheckOptions) => Promise<void>;

/** Idempotent. Does nothing about a finding that does not hold any more. */
export const repairFinding: Repair = (ctx, finding, options) =>
  REPAIRS[finding.repair](ctx, finding, options);

/** An upload that expired can finish until it is ended; its object is an orphan after that. */
const deleteObject: Repair = async (ctx, { key, asset_id: assetId }, { deleteUnknown }) => {
  if (!key || !assetId) return;
  await ctx.uploads.endExpiredUploads([assetId]);
  const owner = await findObjectOwner(ctx, assetId);
  const parsed = parseKey(key);
  if (owner && (owner.legal_hold || !isOrphan(parsed, owner))) return;
  if (!deleteUnknown && (!owner || (await mayBeOnlyCopy(ctx, parsed, owner)))) return;
  await ctx.store.remove(key as ObjectKey);
};

const abortUpload: Repair = async ({ store }, { key }) => {
  if (!key || !store.direct) return;
  for await (const upload of store.direct.listMultiparts(key as ObjectKey))
    if (upload.key === key) await store.direct.abortMultipart(upload);
};

const repairAsset: Repair = async (ctx, { asset_id: id, kind, key, repair }) => {
  const asset = id ? await ctx.lifecycle.findAssetById(id) : undefined;
  if (!asset || isPurged(asset)) return;
  const { signal } = new AbortController();
  const found = await compareAssets(ctx, [asset], { checksums: false, signal });
  if (!found.some((each) => each.kind === kind && each.key === key && each.repair === repair)) return;
  await applyLoss(ctx, asset, { repair, key: key ?? null });
};

async function applyLoss(
  ctx: UpkeepContext,
  asset: Asset,
  { repair, key }: Pick<Finding, 'repair' | 'key'>,
): Promise<void> {
  if (repair === 'warn' || repair === 'fail') await ctx.lifecycle.recordLoss(asset, { repair });
  if (repair === 'drop_captions' && key) await ctx.lifecycle.recordLoss(asset, { repair, key });
  if (repair === 'process_again') {
    const job = ctx.providers.startJob({ ...asset, attempt: asset.attempt + 1 });
    await ctx.lifecycle.recordLoss(asset, { repair, job });
  }
}

const failProviderVideo: Repair = async (ctx, { asset_id: id, provider, provider_video_id: videoId }) => {
  const asset = id ? await ctx.lifecycle.findAssetById(id) : undefined;
  if (!asset || asset.deleted_at || asset.provider_video_id !== videoId || asset.provider !== provider)
    return;
  const inspection = await ctx.providers.call(asset.provider as string, (api) =>
    api.inspect(videoId as string),
  );
  if (inspection.state !== 'missing') return;
  await ctx.providers.applyInspection(asset, {
    source: 'inspect',
    provider: asset.provider,
    event: 'failed',
    failure: VIDEO_MISSING,
  });
};

const deleteVideo: Repair = async (ctx, { provider, provider_video_id: videoId }) => {
  if (!provider || !videoId) return;
  const linked = await ctx.lifecycle.findReportedAsset({ provider, providerVideoId: videoId });
  if (linked && !isPurged(linked)) return;
  await ctx.providers.call(provider, (api) => api.remove(videoId));
};

const REPAIRS: Readonly<Record<Finding['repair'], Repair>> = {
  none: async () => {},
  delete_object: deleteObject,
  abort_upload: abortUpload,
  warn: repairAsset,
  fail: repairAsset,
  process_again: repairAsset,
  drop_captions: repairAsset,
  fail_provider_video: failProviderVideo,
  delete_video: deleteVideo,
};
