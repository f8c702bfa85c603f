// Why an upload that was opened and never completed in time is over, whoever finds out.
import type { Failure } from '../assets/asset.ts';

export const UPLOAD_EXPIRED: Failure = {
  code: 'upload_expired',
  message: 'The upload was not completed in time',
  retryable: true,
};
