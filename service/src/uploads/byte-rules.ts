// The rules by which an asset takes bytes: pure. The same rules for statements are in byte-conditions.sql.ts.
import { type Asset, isPurged } from '../assets/asset.ts';

type Taker = Pick<Asset, 'attempt' | 'stream_status' | 'uploaded_at' | 'deleted_at'>;

/** Whether the asset takes the bytes of an upload of this attempt. */
export const takesBytes = (asset: Taker, attempt: number): boolean =>
  awaitsService(asset, attempt) && asset.uploaded_at === null;

/**
 * Whether the asset waits for a job of this attempt that gets its bytes. They may be stored already, and not
 * completed or not transferred.
 */
export const awaitsService = (
  { attempt: current, stream_status, deleted_at }: Omit<Taker, 'uploaded_at'>,
  attempt: number,
): boolean => current === attempt && stream_status === 'pending_upload' && deleted_at === null;

/**
 * Whether an upload of this attempt can never finish, so that its bytes are removed. An asset in the trash
 * keeps its uploads until it is purged: a restored one takes bytes again.
 */
export const isClosed = (asset: Taker & Pick<Asset, 'purge_at'>, attempt: number): boolean =>
  isPurged(asset) || !takesBytes({ ...asset, deleted_at: null }, attempt);
