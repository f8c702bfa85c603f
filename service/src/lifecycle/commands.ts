// Applies the commands of callers and jobs to assets: each decision is stored by the one writer.
import { createHash } from 'node:crypto';
import type { Asset, AssetRef, Failure } from '../assets/asset.ts';
import { notFound } from '../platform/http/errors.ts';
import type { Transaction } from '../platform/postgres/database.ts';
import type { LifecycleContext } from './context.ts';
import {
  decideBytesCancellation,
  decideCancellation,
  decideImageCancellation,
} from './decisions/cancellation.ts';
import type { AssetChange, Decide } from './decisions/change.ts';
import {
  type CheckRecord,
  type Completion,
  decideCheck,
  decideChecksum,
  decideCompletion,
  decideFacts,
  decidePoster,
  decideRefusal,
  decideReopening,
  decideRetry,
  type FactsRecord,
  type Reopening,
  type Retry,
} from './decisions/decide-commands.ts';
import { type Delay, decideDelay } from './decisions/delay.ts';
import { decideLoss, type StorageLoss } from './decisions/storage-loss.ts';
import * as erased from './erased-assets.sql.ts';
import * as related from './related-assets.sql.ts';

/** Starts processing, unless another attempt began meanwhile. A repeated call changes nothing. */
export const completeAsset = (ctx: LifecycleContext, asset: Asset, completion: Completion): Promise<Asset> =>
  updateExisting(ctx, asset, (seen, now) =>
    seen.attempt === asset.attempt ? decideCompletion(seen, completion, now) : undefined,
  );

/**
 * Fails an asset that waits for its upload, for good, unless another attempt began meanwhile; a job removes
 * its bytes.
 */
export const refuseAsset = (ctx: LifecycleContext, asset: Asset, failure: Failure): Promise<Asset> =>
  updateExisting(ctx, asset, (seen) =>
    seen.attempt === asset.attempt ? refusePending(seen, failure) : undefined,
  );

/** The same, unless the asset changed since it was read: its video may have been linked. */
export const refuseUnchangedAsset = (ctx: LifecycleContext, asset: Asset, failure: Failure): Promise<Asset> =>
  updateExisting(ctx, asset, (seen) =>
    seen.revision === asset.revision ? refusePending(seen, failure) : undefined,
  );

/** Fails an upload that expired before a time; an upload that finishes meanwhile has a later expiry. */
export const expireUpload = (
  ctx: LifecycleContext,
  asset: Asset,
  { before, failure }: { readonly before: Date; readonly failure: Failure },
): Promise<Asset> =>
  updateExisting(ctx, asset, (seen) => {
    const { upload_expires_at: expiresAt } = seen;
    return expiresAt !== null && expiresAt < before ? refusePending(seen, failure) : undefined;
  });

const refusePending = (seen: Asset, failure: Failure): AssetChange | undefined =>
  seen.stream_status === 'pending_upload' ? decideRefusal(seen, failure) : undefined;

/** The id of the owner's earliest other asset with these bytes, or null. */
export async function findDuplicate(
  { db }: Pick<LifecycleContext, 'db'>,
  asset: Pick<Asset, 'id' | 'owner_user_id'>,
  sha256: string,
): Promise<string | null> {
  const found = await related.findSameBytes(db, asset, sha256);
  return found?.id ?? null;
}

/** The asset whose file takes the place of this one's. */
export const findReplacement = ({ db }: Pick<LifecycleContext, 'db'>, assetId: string) =>
  related.findReplacement(db, assetId);

/** The highest attempt of all replacements that the asset had, also deleted ones. */
export const findReplacementAttempt = ({ db }: Pick<LifecycleContext, 'db'>, assetId: string) =>
  related.findReplacementAttempt(db, assetId);

/** `sha256` is the digest, where the job computed it while it copied the bytes. */
type ReadOriginal = { readonly sha256?: string; readonly read: () => AsyncIterable<Uint8Array> };

/**
 * Computes the SHA-256 of an original that went straight to the store, from bytes that a job reads anyway.
 * The asset is `refused` if another one was announced.
 */
export async function verifyOriginal(
  ctx: LifecycleContext,
  asset: Asset,
  original: ReadOriginal,
): Promise<Asset> {
  const { announced_sha256: announced, checksum_sha256: known } = asset;
  if (known !== null && (announced === null || announced === known)) return asset;
  const sha256 = known ?? original.sha256 ?? (await digestOf(original.read()));
  const duplicateOf = await findDuplicate(ctx, asset, sha256);
  const stored = { uploadId: asset.original_upload, sha256, duplicateOf };
  return updateExisting(ctx, asset, (seen) => decideChecksum(seen, stored));
}

async function digestOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hasher = createHash('sha256');
  for await (const chunk of bytes) hasher.update(chunk);
  return hasher.digest('hex');
}

/** Opens an attempt on the stored bytes, unless another request opened one first. */
export const retryAsset = (ctx: LifecycleContext, asset: Asset, retry: Retry): Promise<Asset> =>
  updateExisting(ctx, asset, (seen, now) =>
    seen.attempt === asset.attempt ? decideRetry(seen, retry, now) : undefined,
  );

/** Opens an attempt with another upload, unless another request opened one first. */
export const reopenAsset = (ctx: LifecycleContext, asset: Asset, reopening: Reopening): Promise<Asset> =>
  updateExisting(ctx, asset, (seen) =>
    seen.attempt === asset.attempt ? decideReopening(seen, reopening) : undefined,
  );

/** Records a check by the reconcile job, unless the asset changed since it was read. */
export const recordCheck = (ctx: LifecycleContext, asset: Asset, check: CheckRecord): Promise<Asset> =>
  updateExisting(ctx, asset, (seen) =>
    seen.revision === asset.revision ? decideCheck(seen, check) : undefined,
  );

/** Announces that an attempt is late, once. */
export const recordDelay = (
  ctx: LifecycleContext,
  asset: Asset,
  delay: Delay & { readonly attempt: number },
): Promise<Asset> =>
  updateExisting(ctx, asset, (seen) => {
    const late = seen.attempt === delay.attempt ? decideDelay(seen, delay) : undefined;
    return late && { ...late, jobs: [] };
  });

/** Records facts of a ready video, unless the asset changed since it was read. */
export const recordFacts = (ctx: LifecycleContext, asset: Asset, facts: FactsRecord): Promise<Asset> =>
  updateExisting(ctx, asset, (seen, now) =>
    seen.revision === asset.revision ? decideFacts(seen, facts, now) : undefined,
  );

/** Cancels the encoding of a video; changes nothing if it is not being encoded. */
export const cancelEncoding = (ctx: LifecycleContext, asset: Asset): Promise<Asset> =>
  updateExisting(ctx, asset, decideCancellation);

/** Cancels the processing of an image; changes nothing if it is not being processed. */
export const cancelImage = (ctx: LifecycleContext, asset: Asset): Promise<Asset> =>
  updateExisting(ctx, asset, decideImageCancellation);

/** Cancels the import or the cut that an attempt waits for; changes nothing if it waits no longer. */
export const cancelBytes = (ctx: LifecycleContext, asset: Asset, attempt: number): Promise<Asset> =>
  updateExisting(ctx, asset, (seen) => decideBytesCancellation(seen, attempt));

/** Shows the poster that was rendered for `rendered`, unless the asset needs another one now. */
export const showPoster = (ctx: LifecycleContext, rendered: Asset): Promise<Asset> =>
  updateExisting(ctx, rendered, (seen) => decidePoster(seen, rendered));

/** Deletes the rows of assets and their events, when everything of their owner is erased. */
export async function deleteErasedAssets(_ctx: LifecycleContext, tx: Transaction, ids: readonly string[]) {
  const assets = await erased.deleteErasedAssets(tx, ids);
  return [...assets, ...(await erased.deleteErasedEvents(tx, ids))];
}

/** True for an asset or a provider's video that was erased with its owner. */
export const isErased = ({ db }: LifecycleContext, ref: AssetRef): Promise<boolean> =>
  erased.isErased(db, ref);

/** Records a loss of stored objects, unless the asset changed since it was read. Also of one in the trash. */
export const recordLoss = ({ assets }: LifecycleContext, asset: Asset, loss: StorageLoss) =>
  assets.update(asset, (seen, now) =>
    seen.revision === asset.revision ? decideLoss(seen, loss, now) : undefined,
  );

async function updateExisting({ assets }: LifecycleContext, asset: Asset, decide: Decide): Promise<Asset> {
  const updated = await assets.update(asset, (seen, now) => {
    if (seen.deleted_at) throw notFound('No such asset');
    return decide(seen, now);
  });
  if (!updated) throw notFound('No such asset');
  return updated.asset;
}
