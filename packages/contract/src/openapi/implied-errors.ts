// Errors that follow from the authentication, body and rate limit of an operation.
import { ERROR_CODES } from '../errors.ts';
import type { Auth, ErrorCase, Operation } from '../operation.ts';

const AUTH_ERRORS: Readonly<Record<Auth, readonly ErrorCase[]>> = {
  caller: [
    { code: 'UNAUTHORIZED', reason: 'missing', when: 'No credentials were sent.' },
    { code: 'UNAUTHORIZED', reason: 'expired', when: 'The access token has expired.' },
  ],
  service: [
    { code: 'UNAUTHORIZED', reason: 'missing', when: 'No credentials were sent.' },
    { code: 'FORBIDDEN', when: 'An access token was sent; the operation needs the service key.' },
  ],
  operator: [
    { code: 'UNAUTHORIZED', reason: 'missing', when: 'No operator key was sent.' },
    { code: 'UNAUTHORIZED', reason: 'invalid_credential', when: 'The operator key is not valid.' },
    {
      code: 'FORBIDDEN',
      reason: 'operators_only',
      when: 'The console session is of a user or a service.',
    },
  ],
  viewer: [{ code: 'UNAUTHORIZED', reason: 'expired', when: 'The access token has expired.' }],
  ticket: [],
  playback: [],
  webhook: [],
  none: [],
};

const BAD_REQUEST: ErrorCase = {
  code: 'BAD_REQUEST',
  when: 'The request is malformed or holds an invalid value.',
};
/** Only named service keys have scopes; users and `SERVICE_API_KEY` are not limited. */
const MISSING_SCOPE: ErrorCase = {
  code: 'FORBIDDEN',
  reason: 'missing_scope',
  when: 'The service key does not have the scope of the operation.',
};
const OWNER_NOT_ALLOWED: ErrorCase = {
  code: 'FORBIDDEN',
  reason: 'owner_not_allowed',
  when: 'The service key is limited to other owners.',
};
const FORBIDDEN = [MISSING_SCOPE, OWNER_NOT_ALLOWED];
const PAYLOAD_TOO_LARGE: ErrorCase = {
  code: 'PAYLOAD_TOO_LARGE',
  reason: 'size_above_limit',
  when: 'The body is larger than the limit.',
};
const RATE_LIMITED: ErrorCase = { code: 'RATE_LIMITED', reason: 'rate_limited', when: 'Too many requests.' };
const INTERNAL_ERROR: ErrorCase = { code: 'INTERNAL_ERROR', when: 'An unexpected error.' };
const UNAVAILABLE: ErrorCase = {
  code: 'UNAVAILABLE',
  when: 'The database or the store is not available.',
};

export const impliedErrors = (operation: Operation): readonly ErrorCase[] => [
  ...AUTH_ERRORS[operation.auth],
  ...(operation.auth === 'caller' ? FORBIDDEN : []),
  ...(operation.auth === 'service' ? [MISSING_SCOPE] : []),
  BAD_REQUEST,
  ...(operation.kind === 'json' && operation.body ? [PAYLOAD_TOO_LARGE] : []),
  ...(operation.rateClass ? [] : [RATE_LIMITED]),
  INTERNAL_ERROR,
  UNAVAILABLE,
];

export const statusOfCase = ({ code }: ErrorCase): number => ERROR_CODES[code].status;

const unauthorizedOnly = (errors: readonly ErrorCase[]): ErrorCase[] =>
  errors.filter(({ code }) => code === 'UNAUTHORIZED');

/** Those that operations refer to by name. */
export const SHARED_ERRORS: Readonly<Record<string, readonly ErrorCase[]>> = {
  BadRequest: [BAD_REQUEST],
  UnauthorizedCaller: unauthorizedOnly(AUTH_ERRORS.caller),
  UnauthorizedOperator: unauthorizedOnly(AUTH_ERRORS.operator),
  Forbidden: FORBIDDEN,
  PayloadTooLarge: [PAYLOAD_TOO_LARGE],
  RateLimited: [RATE_LIMITED],
  InternalError: [INTERNAL_ERROR],
  Unavailable: [UNAVAILABLE],
};

export function sharedName(auth: Auth, status: number): string | undefined {
  if (status === 401) return auth === 'operator' ? 'UnauthorizedOperator' : 'UnauthorizedCaller';
  if (status === 403 && auth !== 'caller') return undefined;
  return Object.keys(SHARED_ERRORS).find(
    (name) => SHARED_ERRORS[name]?.[0] && statusOfCase(SHARED_ERRORS[name][0]) === status,
  );
}
