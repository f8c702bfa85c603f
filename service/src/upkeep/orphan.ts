// Which stored objects nobody points to: a rule over what the database knows of their asset (design §6).
import type { Asset } from '../assets/asset.ts';

/** The part of an asset that says which objects it may have. */
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

/** A key's parts, `<kind>/<asset id>/…`; `folder` is `<attempt>-<try>` of renditions, and the upload id of originals. */
export type StoredName = { readonly kind: string; readonly assetId: string; readonly folder: string };

export function nameOf(key: string): StoredName {
  const [kind = '', assetId = '', folder = ''] = key.split('/');
  return { kind, assetId, folder };
}

/** `holder` is undefined if there is no such asset. What a running upload or encoding writes now is no orphan. */
export function isOrphan(name: StoredName, holder: ObjectOwner | undefined): boolean {
  if (!holder || isPurged(holder)) return true;
  const { kind, folder } = name;
  if (kind === 'originals') return isOrphanedUpload(name, holder);
  if (kind === 'renditions') return folder !== publishedFolder(holder) && folder !== runningFolder(holder);
  return kind !== 'variants';
}

/** Deleted, and not restorable. */
export const isPurged = ({ deleted_at, purge_at }: Pick<ObjectOwner, 'deleted_at' | 'purge_at'>): boolean =>
  deleted_at !== null && purge_at === null;

/** The name under which earlier releases stored originals. */
const EARLIER_NAME = 'original';

type Uploaded = Pick<ObjectOwner, 'refused' | 'uploaded_at' | 'original_upload' | 'upload_writer'>;

/**
 * An upload that the row does not point to, and whose writer holds no lease, can never become the original:
 * a writer gets its lease once, before it stores anything, and finishes only while it holds it.
 */
export function isOrphanedUpload({ folder }: StoredName, holder: Uploaded): boolean {
  const { refused, uploaded_at, original_upload, upload_writer } = holder;
  const isOriginal = uploaded_at !== null && !refused && folder === (original_upload ?? EARLIER_NAME);
  // A process of an earlier release writes there, while a fleet is updated.
  const isBeingWritten = upload_writer !== null && (folder === upload_writer || folder === EARLIER_NAME);
  return !isOriginal && !isBeingWritten;
}

/** The holder once its upload's lease has expired. */
export const withoutExpiredLease = (holder: ObjectOwner, now: Date): ObjectOwner =>
  holder.upload_writer_until !== null && holder.upload_writer_until <= now
    ? { ...holder, upload_writer: null, upload_writer_until: null }
    : holder;

const publishedFolder = ({ playback }: ObjectOwner) =>
  playback?.kind === 'own' ? playback.folder : undefined;
/** Also of a run that is over and whose report is still on its way. */
const runningFolder = ({ stream_status, attempt, encode_try }: ObjectOwner) =>
  stream_status === 'processing' ? `${attempt}-${encode_try}` : undefined;
