// Failure codes of encoding with their messages.
import type { FailureCode as ContractCode } from '@mediary/contract/failures';

export const FAILURES = {
  not_media: 'The file could not be read as a video',
  no_video_track: 'The file has no video track',
  truncated: 'The video is incomplete: its end is missing',
  unsupported_codec: 'The video uses a codec that is not supported',
  picture_too_large: 'The picture is larger than 36 megapixels',
  encoding_failed: 'The video could not be encoded',
  timed_out: 'Encoding took too long',
  out_of_memory: 'Encoding needed too much memory',
  output_too_large: 'Encoding made more data than expected',
  engine_missing: 'ffmpeg could not be started',
  original_missing: 'The original of this video is not stored any more',
} as const satisfies Partial<Record<ContractCode, string>>;

export type FailureCode = keyof typeof FAILURES;

/** Failures that a retry may not have. */
const TRANSIENT = new Set([
  'timed_out',
  'out_of_memory',
  'engine_missing',
  'encoder_missing',
  'encoder_crashed',
  'encoding_failed',
]);

export const isTransient = (code: string): boolean => TRANSIENT.has(code);
