// Decides how stored bytes become the original of their asset: pure (contract B4).
import type { EventSource } from '@mediary/contract/enums';
import { newEvent } from '../../assets/asset-event.ts';
import type { Asset } from '../../assets/asset.ts';
import type { JobRequest } from '../../jobs.ts';
import type { AssetWrite, UploadLease } from '../../lifecycle/decisions/change.ts';
import { takesBytes } from '../byte-rules.ts';

/** `sha256` is null if the bytes did not pass through the service, and the store did not check them. */
export type UploadedBytes = { readonly sizeBytes: number; readonly sha256: string | null };

/** Who sent the bytes: a caller, or the service that imported them. */
export type UploadSource = Extract<EventSource, 'caller' | 'service'>;

type StoredUpload = {
  readonly source: UploadSource;
  readonly attempt: number;
  /** Names the object. */
  readonly uploadId: string;
  /** The store checks that its holder still has the lease. Undefined for an upload without a row. */
  readonly lease?: UploadLease | undefined;
  /** A small PUT through the service: the statement that stores the decision looks for duplicates. */
  readonly isSmallPut?: boolean | undefined;
  readonly stored: UploadedBytes;
  /** The owner's earliest other asset with the same bytes. */
  readonly duplicateOf: string | null;
  /** Whether other uploads of the asset may have left objects. */
  readonly mayHaveOrphans: boolean;
  /** Other jobs, sent in the same transaction. */
  readonly jobs?: readonly JobRequest[] | undefined;
  readonly now: Date;
  /** Starts again when the last byte is stored, so that a slow upload leaves time for `complete`. */
  readonly uploadTtlSeconds: number;
};

/** Undefined if the upload is closed. */
export function decideStoredUpload(seen: Asset, upload: StoredUpload): AssetWrite | undefined {
  if (!takesBytes(seen, upload.attempt)) return undefined;
  const { stored, source, mayHaveOrphans, jobs = [] } = upload;
  return {
    set: toColumns(seen, upload),
    events: [newEvent('asset.uploaded', { source, size_bytes: stored.sizeBytes })],
    jobs: [...(mayHaveOrphans ? [purgeOf(seen)] : []), ...jobs],
    ...toUploadRow(upload),
  };
}

const purgeOf = ({ id }: Asset): JobRequest => ({ name: 'purge-asset', payload: { assetId: id } });

function toUploadRow({ lease, isSmallPut, uploadId: id }: StoredUpload): Partial<AssetWrite> {
  if (lease) return { finishes: lease };
  const record = { id, protocol: 'put', target: null, isFinished: true };
  return isSmallPut ? { recordsUnlessHeld: record } : { records: record };
}

function toColumns(
  seen: Asset,
  { uploadId, stored, duplicateOf, now, uploadTtlSeconds }: StoredUpload,
): AssetWrite['set'] {
  const completeBy = new Date(now.getTime() + uploadTtlSeconds * 1000);
  return {
    size_bytes: stored.sizeBytes,
    checksum_sha256: stored.sha256,
    duplicate_of: duplicateOf,
    uploaded_at: now,
    original_upload: uploadId,
    upload_expires_at:
      seen.upload_expires_at && seen.upload_expires_at > completeBy ? seen.upload_expires_at : completeBy,
  };
}
