// Why a clip fails: translates problems of the cut and of the store to failures (contract B4).
import { FAILURE_CODES, type FailureCode } from '@mediary/contract/failures';
import type { Failure } from '../../assets/asset.ts';
import { isTransient } from '../../encoding/encode-failure.ts';
import { ServiceError } from '../../platform/http/errors.ts';

type ClipFailureCode = Extract<FailureCode, `clip_${string}`>;

/** A retry cuts again, which cannot succeed without the source. */
export const toClipFailure = (code: ClipFailureCode, message: string = FAILURE_CODES[code]): Failure => ({
  code,
  message,
  retryable: code !== 'clip_source_deleted',
});

/** ffmpeg could not cut the source. */
export const toCutFailure = ({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): Failure => ({
  code,
  message,
  retryable: isTransient(code),
});

/** The failure that an error of the store stands for; undefined if the job has to run again. */
export function toClipStoreFailure(error: unknown): Failure | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const { code, details, message } = error;
  if (code === 'PAYLOAD_TOO_LARGE') return toClipFailure('clip_too_large');
  return details?.reason === 'quota_exceeded' ? toClipFailure('clip_too_large', message) : undefined;
}
