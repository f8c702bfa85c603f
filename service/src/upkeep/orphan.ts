// Decides which stored objects are orphans, from the columns of their asset (design §6).
import type { Asset } from '../assets/asset.ts';

/** The columns that tell which objects an asset may have. */
export type ObjectOwner = Pick<
  Asset,
  | 'id'
  | 'refused'
  | 'uploaded_at'
  | 'original_upload'
  | 'upload_writer'
  | 'upload_writer_until'
  | 'deleted_at'
  | 'purge_at'
  | 'stream_status'
  | 'attempt'
  | 'encode_try'
  | 'playback'
>;

/** A parsed key `<kind>/<asset id>/…`. `folder`: `<attempt>-<try>` of renditions, upload id of originals. */
type ParsedKey = { readonly kind: string; readonly assetId: string; readonly folder: string };

export function parseKey(key: string): ParsedKey {
  const [kind = '', assetId = '', folder = ''] = key.split('/');
  return { kind, assetId, folder };
}

/** `owner` is undefined if the asset does not exist. Objects being written are not orphans. */
export function isOrphan(key: ParsedKey, owner: ObjectOwner | undefined): boolean {
  if (!owner || isPurged(owner)) return true;
  const { kind, folder } = key;
  if (kind === 'originals') return isOrphanedUpload(key, owner);
  if (kind === 'renditions') return folder !== publishedFolder(owner) && folder !== runningFolder(owner);
  return kind !== 'variants';
}

/** Deleted, and not restorable. */
export const isPurged = ({ deleted_at, purge_at }: Pick<ObjectOwner, 'deleted_at' | 'purge_at'>): boolean =>
  deleted_at !== null && purge_at === null;

/** The name under which earlier releases stored originals. */
const EARLIER_NAME = 'original';

type UploadOwner = Pick<ObjectOwner, 'refused' | 'uploaded_at' | 'original_upload' | 'upload_writer'>;

/**
 * An upload that is neither the original nor being written. It can never become the original: a writer
 * gets its lease once, before it stores anything, and records the upload only under the lease.
 */
export function isOrphanedUpload({ folder }: ParsedKey, owner: UploadOwner): boolean {
  const { refused, uploaded_at, original_upload, upload_writer } = owner;
  const isOriginal = uploaded_at !== null && !refused && folder === (original_upload ?? EARLIER_NAME);
  // During a rolling update, a process of an earlier release writes under the earlier name.
  const isBeingWritten = upload_writer !== null && (folder === upload_writer || folder === EARLIER_NAME);
  return !isOriginal && !isBeingWritten;
}

/** The owner without an expired upload lease. */
export const withoutExpiredLease = (owner: ObjectOwner, now: Date): ObjectOwner =>
  owner.upload_writer_until !== null && owner.upload_writer_until <= now
    ? { ...owner, upload_writer: null, upload_writer_until: null }
    : owner;

const publishedFolder = ({ playback }: ObjectOwner) =>
  playback?.kind === 'own' ? playback.folder : undefined;
/** Includes a finished run whose report has not arrived yet. */
const runningFolder = ({ stream_status, attempt, encode_try }: ObjectOwner) =>
  stream_status === 'processing' ? `${attempt}-${encode_try}` : undefined;
