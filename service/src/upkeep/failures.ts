// Failures that the scheduled jobs set.
import { FAILURE_CODES, type FailureCode } from '@mediary/contract/failures';
import type { Failure } from '../assets/asset.ts';

const toFailure = (code: FailureCode, retryable: boolean): Failure => ({
  code,
  message: FAILURE_CODES[code],
  retryable,
});

export const UPLOAD_EXPIRED = toFailure('upload_expired', true);
/** The provider has lost a video that it had accepted. */
export const VIDEO_MISSING = toFailure('provider_video_missing', false);
/** The provider did not respond when the upload was opened, so the asset has no video. */
export const PROVIDER_UNAVAILABLE = toFailure('provider_unavailable', true);
