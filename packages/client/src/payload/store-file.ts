// Stores a file of Payload CMS as the asset with its external id: once, and in place of an older file.
import type { Asset } from '../api/assets.ts';
import type { Visibility } from '../api/enums.ts';
import { isMediaryError, MediaryError, TimeoutError } from '../errors.ts';
import type { Media } from '../mediary.ts';
import { computeSha256 } from '../upload/checksum.ts';

export type StorageCalls = Pick<Media, 'list' | 'upload' | 'waitUntilReady' | 'delete' | 'playback'>;

type NewFile = {
  readonly externalId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly visibility: Visibility;
  readonly content: Blob;
};

/** Pages show a picture at once, so that a document is saved when its picture is ready. */
const IMAGE_DEADLINE_MS = 30_000;

/**
 * The id of the asset that has the file. A repetition with the same bytes changes nothing. A refused file
 * leaves no asset behind, and an older file of the document as it is.
 */
export async function storeFile(media: StorageCalls, file: NewFile): Promise<string> {
  const checksum = await computeSha256(file.content);
  let existing = await findStoredAsset(media, file.externalId);
  if (existing?.stream_status === 'pending_upload') {
    await deleteStoredAsset(media, existing.id);
    existing = undefined;
  }
  const isStored = existing?.checksum_sha256 === checksum && existing.stream_status !== 'failed';
  const asset = isStored && existing ? existing : await upload(media, { file, checksum, replaces: existing });
  return asset.version_of ?? asset.id;
}

type Upload = { readonly file: NewFile; readonly checksum: string; readonly replaces: Asset | undefined };

async function upload(media: StorageCalls, { file, checksum, replaces }: Upload): Promise<Asset> {
  let created: string | undefined;
  const send = (): Promise<Asset> =>
    media.upload(file.content, {
      filename: file.filename,
      mimeType: file.mimeType,
      visibility: file.visibility,
      externalId: file.externalId,
      ifExists: 'return',
      replaces: replaces?.id,
      checksum,
      onAsset: (id) => {
        created = id;
      },
    });
  try {
    const asset = await send().catch(async (error: unknown) => {
      await deleteOtherReplacement(media, error);
      return send();
    });
    return await waitForImage(media, asset);
  } catch (error) {
    // What refused the file matters more than a failure to clean up.
    if (created !== undefined) await deleteStoredAsset(media, created).catch(() => undefined);
    throw error;
  }
}

/** The last file wins. Throws other errors again. */
async function deleteOtherReplacement(media: StorageCalls, error: unknown): Promise<void> {
  const other = isMediaryError(error, 'replacement_in_progress') ? error.details?.['replacement_id'] : null;
  if (typeof other !== 'string') throw error;
  await deleteStoredAsset(media, other);
}

async function waitForImage(media: StorageCalls, asset: Asset): Promise<Asset> {
  if (asset.kind !== 'image') return asset;
  try {
    return await media.waitUntilReady(asset, { deadlineMs: IMAGE_DEADLINE_MS });
  } catch (error) {
    if (error instanceof TimeoutError) return asset;
    throw error;
  }
}

export async function findStoredAsset(media: StorageCalls, externalId: string): Promise<Asset | undefined> {
  const { items } = await media.list({ external_id: externalId }).page();
  return items[0];
}

/** An asset that is gone already is no error. */
export async function deleteStoredAsset(media: StorageCalls, id: string): Promise<void> {
  await media.delete(id).catch((error: unknown) => {
    if (!isMediaryError(error, 'NOT_FOUND')) throw error;
  });
}

/**
 * Payload shows the message of an error to the editor unless its status is 500. Editors see why a file is
 * refused, but nothing about the service key.
 */
export function toPayloadError(error: unknown): unknown {
  if (!(error instanceof MediaryError)) return error;
  const { message, errorCode, details, requestId, status } = error;
  const shown = errorCode === 'ASSET_FAILED' ? 400 : status;
  const isOfKey = status === 401 || status === 403;
  return new MediaryError(message, {
    errorCode,
    details,
    requestId,
    status: isOfKey || shown === undefined ? 500 : shown,
    cause: error,
  });
}
