// The columns of an asset that are about its file, as data.
import { assetRow, pick } from '../tables.ts';

/** What an asset knows of its file; the other columns are about the asset, or the state of an attempt. */
export const fileColumns = pick(assetRow, [
  'filename',
  'content_type',
  'mime_type',
  'announced_size_bytes',
  'announced_sha256',
  'size_bytes',
  'checksum_sha256',
  'uploaded_at',
  'original_upload',
  'renditions',
  'warnings',
  'playback',
  'playable_at',
  'ready_at',
  'width',
  'height',
  'duration_ms',
  'placeholder',
  'media',
  'poster_time_ms',
  'focal_point',
  'chapters',
  'captions',
  'duplicate_of',
  'clip_of',
]);
