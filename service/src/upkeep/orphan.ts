// Decides which stored objects are orphans, from the columns of their asset (design §6).
import { type Asset, isPurged } from '../assets/asset.ts';
import { roleOfRun } from '../assets/previous-version.ts';
import { isDeferred } from '../lifecycle/decisions/stored-references.ts';
import { parseOriginalName } from '../storage/object-key.ts';
import { presignedUploadId, smallPutUploadId } from '../storage/upload-id.ts';

/** The columns that tell which objects an asset may have. */
export type ObjectOwner = Pick<
  Asset,
  | 'id'
  | 'refused'
  | 'legal_hold'
  | 'uploaded_at'
  | 'original_upload'
  | 'deleted_at'
  | 'purge_at'
  | 'stream_status'
  | 'attempt'
  | 'encode_run'
  | 'playback'
  | 'previous_version'
> & {
  /** The ids of the uploads that can still become the original. */
  readonly open_uploads: readonly string[];
  /** Keys and prefixes that wait for their removal. */
  readonly deferred: readonly string[];
  /** Of the replacement, whose objects are copied to the asset before it names them. */
  readonly next_upload: string | null;
  readonly next_playback: Asset['playback'];
};

/**
 * A store checks the expiry of a presigned PUT when the transfer starts. 64 MiB arrive within this time at 20
 * KB/s.
 */
export const TRANSFER_MS = 3_600_000;

/**
 * When the last transfer to a presigned URL of the asset has ended: no attempt has a later expiry. Undefined
 * if no URL was presigned, because that needs an announced size.
 */
export function lastTransferEnd(
  asset: Pick<Asset, 'announced_size_bytes' | 'attempt' | 'upload_expires_at'>,
): Date | undefined {
  const { announced_size_bytes: announced, attempt, upload_expires_at: expires } = asset;
  if (!expires || (announced === null && attempt === 1)) return undefined;
  return new Date(expires.getTime() + TRANSFER_MS);
}

/** A parsed key `<kind>/<asset id>/…`. `folder`: `<attempt>-<run>` of renditions, name of originals. */
type ParsedKey = Readonly<Record<'key' | 'kind' | 'assetId' | 'folder', string>>;

export function parseKey(key: string): ParsedKey {
  const [kind = '', assetId = '', folder = ''] = key.split('/');
  return { key, kind, assetId, folder };
}

/**
 * `owner` is undefined if the asset does not exist. Objects being written, or waiting for their removal, are
 * not orphans.
 */
export function isOrphan(parsed: ParsedKey, owner: ObjectOwner | undefined): boolean {
  if (owner && isDeferred(parsed.key, owner.deferred)) return false;
  if (!owner || isPurged(owner)) return true;
  const { kind, folder } = parsed;
  if (kind === 'originals') return isOrphanedUpload(parsed, owner);
  if (kind === 'renditions')
    return roleOfRun(owner, folder) === undefined && !openFolders(owner).includes(folder);
  // A file of captions is stored before its row, so one without a row may be about to get it.
  return kind !== 'variants' && kind !== 'captions';
}

type UploadOwner = Pick<
  ObjectOwner,
  | 'id'
  | 'attempt'
  | 'stream_status'
  | 'refused'
  | 'legal_hold'
  | 'uploaded_at'
  | 'original_upload'
  | 'open_uploads'
  | 'next_upload'
  | 'previous_version'
>;

/**
 * An object that is neither the original nor of an open upload or a replacement. It can never become the
 * original: an upload has its row before its object, and loses it for good; one without a row belongs to one
 * attempt.
 */
function isOrphanedUpload({ folder }: ParsedKey, owner: UploadOwner): boolean {
  const { uploaded_at, original_upload, open_uploads, previous_version: previous } = owner;
  const isRefused = owner.refused && !owner.legal_hold;
  const { upload, isTail } = parseOriginalName(folder);
  const isCurrent = uploaded_at !== null && !isRefused && upload === original_upload;
  const isOther = upload === previous?.file.original_upload || upload === owner.next_upload;
  const isOriginal = !isTail && (isCurrent || isOther);
  return !isOriginal && !open_uploads.includes(upload) && !isUnrecordedUpload(folder, owner);
}

/** A presigned or small PUT has its object before its row. */
const isUnrecordedUpload = (folder: string, owner: UploadOwner): boolean =>
  owner.stream_status === 'pending_upload' &&
  owner.uploaded_at === null &&
  (folder === presignedUploadId(owner) || folder === smallPutUploadId(owner));

/** Folders of renditions that the asset may name later: of its replacement, and of a run without a report. */
const openFolders = ({ stream_status, attempt, encode_run, next_playback: next }: ObjectOwner): string[] => [
  ...(stream_status === 'processing' ? [`${attempt}-${encode_run}`] : []),
  ...(next?.kind === 'own' ? [next.folder] : []),
];
