// Which stored objects nobody points to: a rule over what the database knows of their asset (design §6).
import type { Asset } from '../assets/asset.ts';

/** The part of an asset that says which objects it may have. */
export type Holder = Pick<
  Asset,
  | 'id'
  | 'refused'
  | 'uploaded_at'
  | 'upload_writer_until'
  | 'deleted_at'
  | 'purge_at'
  | 'stream_status'
  | 'attempt'
  | 'encode_try'
  | 'playback'
>;

/** A key taken apart: `<kind>/<asset id>/…`; `folder` is `<attempt>-<try>` of renditions. */
export type StoredName = { readonly kind: string; readonly assetId: string; readonly folder: string };

export function nameOf(key: string): StoredName {
  const [kind = '', assetId = '', folder = ''] = key.split('/');
  return { kind, assetId, folder };
}

/** `holder` is undefined where there is no such asset. What a running upload or encoding writes now is no orphan. */
export function isOrphan({ kind, folder }: StoredName, holder: Holder | undefined, now: Date): boolean {
  if (!holder || (holder.deleted_at && !holder.purge_at)) return true;
  if (kind === 'originals') return holder.refused || (!holder.uploaded_at && !isBeingWritten(holder, now));
  if (kind === 'renditions') return folder !== publishedFolder(holder) && folder !== runningFolder(holder);
  return kind !== 'variants';
}

const isBeingWritten = ({ upload_writer_until: until }: Holder, now: Date) => until !== null && until > now;
const publishedFolder = ({ playback }: Holder) => (playback?.kind === 'own' ? playback.folder : undefined);
/** Also of a run that is over and whose report is still on its way. */
const runningFolder = ({ stream_status, attempt, encode_try }: Holder) =>
  stream_status === 'processing' ? `${attempt}-${encode_try}` : undefined;
