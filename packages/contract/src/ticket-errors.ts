// How requests with signed URLs fail.
import type { ErrorCase } from './operation.ts';

/** Errors of signed URLs and playback tokens. */
export const TICKET_ERRORS: readonly ErrorCase[] = [
  { code: 'UNAUTHORIZED', reason: 'expired', when: 'The signed URL has expired.' },
  {
    code: 'UNAUTHORIZED',
    reason: 'invalid_credential',
    when: 'The signature of the URL is missing or altered.',
  },
];

/** Errors of uploads that take more than one request. */
export const UPLOAD_ERRORS: readonly ErrorCase[] = [
  ...TICKET_ERRORS,
  { code: 'NOT_FOUND', when: 'No such asset or upload, or the upload has expired.' },
  { code: 'CONFLICT', reason: 'already_uploaded', when: 'The bytes are stored already.' },
];
