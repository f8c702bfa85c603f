// Decides how stored bytes become the original of their asset: pure (contract B4).
import type { EventSource } from '@mediary/contract/enums';
import type { Asset } from '../assets/asset.ts';
import { newEvent } from '../assets/asset-event.ts';
import type { Change } from '../lifecycle/change.ts';
import type { StoredBytes } from '../storage/object-store.ts';

/** Who sent the bytes: a caller, or the service that imported them. */
export type UploadSource = Extract<EventSource, 'caller' | 'service'>;

type StoredUpload = {
  readonly source: UploadSource;
  /** The asset before the writer claimed it. */
  readonly before: Asset;
  /** The asset after the writer claimed it. */
  readonly claimed: Asset;
  readonly stored: StoredBytes;
  readonly now: Date;
  /** Starts again when the last byte is stored, so that a slow upload leaves time for `complete`. */
  readonly uploadTtlSeconds: number;
};

/** Undefined if another writer took over or the upload is closed. Only the writer id counts, not expiry. */
export function decideStoredUpload(seen: Asset, upload: StoredUpload): Change | undefined {
  const { claimed, before, stored, source } = upload;
  if (!isStillWriter(seen, claimed)) return undefined;
  return {
    set: toColumns(seen, upload),
    events: [newEvent('asset.uploaded', { source, size_bytes: stored.sizeBytes })],
    // An earlier writer that lost its lease may have crashed and left its object.
    jobs: before.upload_writer === null ? [] : [{ name: 'purge-asset', payload: { assetId: seen.id } }],
  };
}

const isStillWriter = (seen: Asset, { upload_writer, attempt }: Asset): boolean =>
  seen.upload_writer === upload_writer &&
  seen.attempt === attempt &&
  seen.deleted_at === null &&
  seen.uploaded_at === null &&
  seen.stream_status === 'pending_upload';

function toColumns(seen: Asset, { claimed, stored, now, uploadTtlSeconds }: StoredUpload): Change['set'] {
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
