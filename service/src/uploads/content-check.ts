// What upload-url demands of a new asset, and what complete demands of the bytes: rules alone (contract B1, B4).
import type { Asset, Failure } from '../assets/asset.ts';

const CONTROL = /\p{Cc}/u;

/** 1–255 code points, any Unicode but control characters and lone surrogates, not blank. */
export const isFilename = (name: string): boolean =>
  name.length <= 510 && [...name].length <= 255 && name.trim() !== '' && name.isWellFormed() && !CONTROL.test(name);

/** Text that a database column can hold as it is. */
export const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

export const MAX_METADATA_BYTES = 16 * 1024;

/** Deeper than anybody writes by hand, and far from where parsers give up. */
export const MAX_METADATA_LEVELS = 100;

/** Whether callers' own JSON fits, and holds no text that JSON columns refuse. */
export const isMetadata = (metadata: object): boolean =>
  isPlainJson(metadata, MAX_METADATA_LEVELS) && Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES;

function isPlainJson(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return isPlainText(value);
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.entries(value).every(([name, inner]) => isPlainText(name) && isPlainJson(inner, levels - 1));
}

export type RefusalCode =
  | 'size_mismatch' | 'checksum_mismatch' | 'type_mismatch' | 'playlist' | 'not_media' | 'no_video_track' | 'truncated' | 'too_large_picture';

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

/** A refusal as the asset keeps it: other bytes need another upload. */
export const refusal = (code: RefusalCode): Failure => ({ code, message: WORDS[code], retryable: false });

/** What the announced size and digest say against the stored bytes. */
export function announcedMismatch(asset: Pick<Asset, 'announced_size_bytes' | 'announced_sha256' | 'size_bytes' | 'checksum_sha256'>): RefusalCode | undefined {
  if (asset.announced_size_bytes !== null && asset.announced_size_bytes !== asset.size_bytes) return 'size_mismatch';
  if (asset.announced_sha256 !== null && asset.announced_sha256 !== asset.checksum_sha256) return 'checksum_mismatch';
  return undefined;
}
