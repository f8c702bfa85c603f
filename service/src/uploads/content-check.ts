// Why `complete` rejects stored bytes: codes, and comparison with the announced size and digest (B4).
import { FAILURE_CODES, type FailureCode } from '@mediary/contract/failures';
import type { Asset, Failure } from '../assets/asset.ts';

export type RejectionCode = Extract<
  FailureCode,
  | 'size_mismatch'
  | 'checksum_mismatch'
  | 'type_mismatch'
  | 'playlist'
  | 'not_media'
  | 'no_video_track'
  | 'no_audio_track'
  | 'truncated'
  | 'picture_too_large'
>;

/** Retryable, because a retry opens another upload. */
export const toContentFailure = (code: RejectionCode): Failure => ({
  code,
  message: FAILURE_CODES[code],
  retryable: true,
});

/** Compares the stored size and digest with the announced ones; undefined if they match or are unknown. */
export function findMismatch(
  asset: Pick<Asset, 'announced_size_bytes' | 'announced_sha256' | 'size_bytes' | 'checksum_sha256'>,
): RejectionCode | undefined {
  if (asset.announced_size_bytes !== null && asset.announced_size_bytes !== asset.size_bytes)
    return 'size_mismatch';
  const { announced_sha256: announced, checksum_sha256: stored } = asset;
  return announced !== null && stored !== null && announced !== stored ? 'checksum_mismatch' : undefined;
}
