// Failure codes of encoding.
import type { FailureCode as ContractCode } from '@mediary/contract/failures';

export type FailureCode = Extract<
  ContractCode,
  | 'not_media'
  | 'no_video_track'
  | 'no_audio_track'
  | 'truncated'
  | 'undecodable'
  | 'unsupported_codec'
  | 'picture_too_large'
  | 'encode_failed'
  | 'timed_out'
  | 'out_of_memory'
  | 'output_too_large'
  | 'encoder_missing'
  | 'original_missing'
>;

/** Failures that a retry may not have. */
const TRANSIENT = new Set([
  'timed_out',
  'out_of_memory',
  'encoder_missing',
  'encoder_crashed',
  'encode_failed',
]);

export const isTransient = (code: string): boolean => TRANSIENT.has(code);
