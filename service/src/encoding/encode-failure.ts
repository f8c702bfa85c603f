// Failure codes of encoding.
import type { FailureCode as ContractCode } from '@mediary/contract/failures';

export type FailureCode = Extract<
  ContractCode,
  | 'not_media'
  | 'no_video_track'
  | 'truncated'
  | 'undecodable'
  | 'unsupported_codec'
  | 'picture_too_large'
  | 'encoding_failed'
  | 'timed_out'
  | 'out_of_memory'
  | 'output_too_large'
  | 'engine_missing'
  | 'original_missing'
>;

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
