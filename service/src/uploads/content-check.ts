// What upload-url demands of a new asset, and what complete demands of the bytes: rules alone (contract B1, B4).
import type { FailureCode } from '@mediary/contract/failures';
import type { Asset, Failure } from '../assets/asset.ts';

const CONTROL = /\p{Cc}/u;

/** 1–255 code points, any Unicode but control characters and lone surrogates, not blank. */
export const isFilename = (name: string): boolean =>
  name.length <= 510 &&
  [...name].length <= 255 &&
  name.trim() !== '' &&
  name.isWellFormed() &&
  !CONTROL.test(name);

export type RefusalCode = Extract<
  FailureCode,
  | 'size_mismatch'
  | 'checksum_mismatch'
  | 'type_mismatch'
  | 'playlist'
  | 'not_media'
  | 'no_video_track'
  | 'truncated'
  | 'too_large_picture'
>;

const WORDS: Readonly<Record<RefusalCode, string>> = {
  size_mismatch: 'The bytes are not as many as size_bytes announced',
  checksum_mismatch: 'The bytes do not have the announced checksum_sha256',
  type_mismatch: 'The bytes are not of the announced mime_type',
  playlist: 'The bytes are a playlist that points elsewhere, not a video',
  not_media: 'The bytes are no media file that can be read',
  no_video_track: 'The file has no picture track',
  truncated: 'The end of the file is missing',
  too_large_picture: 'The picture has too many pixels',
};

/** A refusal as the asset keeps it: a retry opens another upload. */
export const createRefusal = (code: RefusalCode): Failure => ({
  code,
  message: WORDS[code],
  retryable: true,
});

/** What the announced size and digest say against the stored bytes. */
export function announcedMismatch(
  asset: Pick<Asset, 'announced_size_bytes' | 'announced_sha256' | 'size_bytes' | 'checksum_sha256'>,
): RefusalCode | undefined {
  if (asset.announced_size_bytes !== null && asset.announced_size_bytes !== asset.size_bytes)
    return 'size_mismatch';
  if (asset.announced_sha256 !== null && asset.announced_sha256 !== asset.checksum_sha256)
    return 'checksum_mismatch';
  return undefined;
}
