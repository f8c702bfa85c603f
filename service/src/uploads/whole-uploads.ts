// Stores small files that arrive at once without a lease: the object first, then one statement (contract B4).
import type { Asset } from '../assets/asset.ts';
import { isUnavailable } from '../platform/errors.ts';
import { diskFull } from '../platform/free-space.ts';
import type { Bound } from '../platform/bind.ts';
import { uploadKey } from '../storage/object-key.ts';
import { ObjectRefused, type StoredBytes } from '../storage/object-store.ts';
import { wholeUploadId } from '../storage/upload-id.ts';
import type { OriginalBytes, OriginalNeeds, storeOriginal } from './store-original.ts';
import { decideStoredUpload } from './stored-upload.ts';
import { assertLength } from './upload-errors.ts';
import { readWholeBody } from './whole-body.ts';

type WholeNeeds = Pick<
  OriginalNeeds,
  | 'store'
  | 'assetStore'
  | 'findAssetById'
  | 'underQuota'
  | 'uploadTtlSeconds'
  | 'maxUploadBytes'
  | 'requireDatabaseSpace'
> & {
  readonly storeOriginal: Bound<typeof storeOriginal>;
};

/** An upload under a lease holds more in memory. Slower bodies need the lease, which tells of them. */
const WHOLE = { maxBytes: 256 * 1024, withinMs: 100 };

/** Stores the bytes of a PUT; under a lease if they are many or slow, or if another request may write too. */
export async function storePut(
  needs: WholeNeeds,
  asset: Asset,
  original: Omit<OriginalBytes, 'hasLeftovers'>,
): Promise<Asset> {
  // The other id that needs no row belongs to the clients of the store.
  if (needs.store.direct) return needs.storeOriginal(asset, original);
  assertLength(asset, original.length, needs.maxUploadBytes);
  const body = await readWholeBody(original, WHOLE);
  const result: WholeResult = body.chunks ? await storeWhole(needs, asset, body.chunks) : {};
  return (
    result.finished ??
    needs.storeOriginal(asset, { ...original, bytes: body.bytes, hasLeftovers: result.hasLeftovers })
  );
}

type WholeResult = { readonly finished?: Asset; readonly hasLeftovers?: boolean };

/**
 * Without a result, another request was faster or its object exists. Only the request that created the object
 * removes it, so it cannot be one that another request finished with.
 */
async function storeWhole(
  needs: WholeNeeds,
  asset: Asset,
  chunks: readonly Uint8Array[],
): Promise<WholeResult> {
  await needs.requireDatabaseSpace();
  const uploadId = wholeUploadId(asset);
  const stored = await createObject(needs, asset, chunks);
  if (!stored) return { hasLeftovers: true };
  try {
    const finished = await finishWhole(needs, asset, { uploadId, stored });
    if (finished) return { finished };
  } catch (error) {
    // Without a response the statement may have been stored.
    if (!isUnavailable(error)) await removeObject(needs, asset, uploadId);
    throw error;
  }
  await removeObject(needs, asset, uploadId);
  return {};
}

/** Undefined if the object exists: of a request that runs, or a part of it, of one whose process ended. */
async function createObject(
  { store }: WholeNeeds,
  asset: Asset,
  chunks: readonly Uint8Array[],
): Promise<StoredBytes | undefined> {
  try {
    return await store.putSmall(uploadKey(asset.id, wholeUploadId(asset)), chunks);
  } catch (error) {
    if (!(error instanceof ObjectRefused)) throw error;
    if (error.reason === 'exists') return undefined;
    throw diskFull('object store', error);
  }
}

async function finishWhole(
  { assetStore, underQuota, uploadTtlSeconds }: WholeNeeds,
  asset: Asset,
  upload: { readonly uploadId: string; readonly stored: StoredBytes },
): Promise<Asset | undefined> {
  const { attempt, owner_user_id: owner } = asset;
  const finish = { ...upload, attempt, uploadTtlSeconds, source: 'caller', isWhole: true } as const;
  const updated = await underQuota(owner, () =>
    assetStore.update(asset, (seen, now) =>
      decideStoredUpload(seen, { ...finish, duplicateOf: null, hasLeftovers: false, now }),
    ),
  );
  return updated?.decision && updated.asset;
}

async function removeObject(
  { store, findAssetById }: WholeNeeds,
  { id }: Asset,
  uploadId: string,
): Promise<void> {
  const asset = await findAssetById(id);
  if (asset?.original_upload !== uploadId) await store.remove(uploadKey(id, uploadId));
}
