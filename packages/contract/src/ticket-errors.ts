// How requests of viewers and with signed URLs fail.
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

/** The access rules of the asset refuse the request. */
export const ACCESS_ERRORS: readonly ErrorCase[] = [
  { code: 'FORBIDDEN', reason: 'referrer_not_allowed', when: 'The site may not play the asset.' },
  { code: 'FORBIDDEN', reason: 'network_not_allowed', when: 'The address of the viewer may not play it.' },
  { code: 'FORBIDDEN', reason: 'country_not_allowed', when: 'The country of the viewer may not play it.' },
  {
    code: 'FORBIDDEN',
    reason: 'downloads_not_allowed',
    when: 'The request is for a download, which the rules forbid.',
  },
];
