// Decides what a finished upload does to its asset: pure; the lease and the attempt are the fence (contract B4).
import type { Asset } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import type { Change } from '../lifecycle/change.ts';
import type { StoredBytes } from '../storage/object-store.ts';

export type Uploaded = {
  /** The asset as its writer claimed it. */
  readonly claimed: Asset;
  /** The asset before the claim. */
  readonly before: Asset;
  readonly stored: StoredBytes;
  readonly now: Date;
  /** The bytes are kept for `complete` for this long, however long they took to arrive. */
  readonly uploadTtlSeconds: number;
};

/** Undefined if another writer took over, or the asset takes no bytes any more. The time of the lease does not matter. */
export function decideUploaded(seen: Asset, uploaded: Uploaded): Change | undefined {
  const { claimed, before, stored } = uploaded;
  if (!isWriting(seen, claimed)) return undefined;
  return {
    set: toStoredColumns(seen, uploaded),
    events: [newEvent('asset.uploaded', { source: 'caller', size_bytes: stored.sizeBytes })],
    // An earlier writer that lost its lease may have died and left its object.
    jobs: before.upload_writer === null ? [] : [{ name: 'purge-asset', payload: { assetId: seen.id } }],
  };
}

const isWriting = (seen: Asset, { upload_writer, attempt }: Asset): boolean =>
  seen.upload_writer === upload_writer &&
  seen.attempt === attempt &&
  seen.deleted_at === null &&
  seen.uploaded_at === null &&
  seen.stream_status === 'pending_upload';

function toStoredColumns(seen: Asset, { claimed, stored, now, uploadTtlSeconds }: Uploaded): Change['set'] {
  const completeBy = new Date(now.getTime() + uploadTtlSeconds * 1000);
  return {
    size_bytes: stored.sizeBytes,
    checksum_sha256: stored.sha256,
    uploaded_at: now,
    original_upload: claimed.upload_writer,
    upload_expires_at:
      seen.upload_expires_at && seen.upload_expires_at > completeBy ? seen.upload_expires_at : completeBy,
    upload_writer: null,
    upload_writer_until: null,
  };
}
