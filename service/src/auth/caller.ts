// Identifies the caller: a user by an access token, or a service by its key, never both (contract A4).
import type { UnauthorizedReason } from '@mediary/contract/errors';
import { type TokenFault, verifyAccessToken } from './access-token.ts';
import { type Secret, isServiceKey } from './secret.ts';

export type Caller = { readonly kind: 'user'; readonly userId: string } | { readonly kind: 'service' };

/** The key of limits per user; undefined for services, which only total limits apply to. */
export const limitKeyOf = (caller: Caller): string | undefined =>
  caller.kind === 'user' ? caller.userId : undefined;

/** All values of both headers: a proxy and a client may each have sent one. */
type Credentials = {
  readonly authorization: readonly string[];
  readonly serviceKey: readonly string[];
};

export type CallerNeeds = {
  readonly tokenSecrets: readonly Secret[];
  readonly serviceKeys: readonly Secret[];
  readonly nowSeconds: number;
};

/**
 * The content of a 401: `field` is the invalid header or claim, `challenge` the WWW-Authenticate header (RFC
 * 6750).
 */
export type CallerFault = {
  readonly reason: UnauthorizedReason;
  readonly message: string;
  readonly field?: string;
  readonly challenge: string;
};
type IdentifyResult = { readonly caller: Caller } | { readonly fault: CallerFault };

const BEARER = /^Bearer ([^ ]+)$/i;
const HAS_TOKEN = /^Bearer +[^ ]/i;

export function identify({ authorization, serviceKey }: Credentials, needs: CallerNeeds): IdentifyResult {
  const [header] = authorization;
  const [key] = serviceKey;
  if (header === undefined && key === undefined) return NO_CREDENTIALS;
  if (authorization.length + serviceKey.length > 1) return MULTIPLE_CREDENTIALS;
  return key === undefined ? identifyUser(header ?? '', needs) : identifyService(key, needs);
}

const SEND_ONE = 'Send either "Authorization: Bearer <access token>" or "X-Service-Key: <key>"';
const NO_CREDENTIALS: IdentifyResult = {
  fault: { reason: 'missing', message: `No credentials. ${SEND_ONE}.`, challenge: 'Bearer' },
};
const MULTIPLE_CREDENTIALS: IdentifyResult = {
  fault: {
    reason: 'multiple_credentials',
    message: `More than one credential was sent. ${SEND_ONE}, once.`,
    challenge: 'Bearer error="invalid_request"',
  },
};

function identifyUser(header: string, { tokenSecrets, nowSeconds }: CallerNeeds): IdentifyResult {
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) return malformedHeader(header);
  const verified = verifyAccessToken(token, tokenSecrets, nowSeconds);
  return 'userId' in verified
    ? { caller: { kind: 'user', userId: verified.userId } }
    : { fault: tokenFault(verified.fault) };
}

const INVALID_TOKEN = 'Bearer error="invalid_token"';

/** RFC 6750 §3.1: the challenge has no error code when the request contained no bearer token. */
const malformedHeader = (header: string): IdentifyResult => ({
  fault: {
    reason: 'malformed',
    message: 'The Authorization header is malformed. Expected: "Authorization: Bearer <access token>".',
    field: 'Authorization',
    challenge: HAS_TOKEN.test(header) ? INVALID_TOKEN : 'Bearer',
  },
});

const TOKEN_MESSAGES: Readonly<Record<TokenFault['reason'], string>> = {
  malformed: 'The access token is malformed. Expected: a JWT signed with HS256.',
  bad_signature: 'The signature of the access token is not valid. Expected: HS256 with ACCESS_TOKEN_SECRET.',
  wrong_type: 'The token is not an access token. Its claim "type" must be "access".',
  missing_claim: 'The access token lacks a claim. It needs "type" = "access" and a "user_id".',
  expired: 'The access token has expired. Request a new one.',
  not_yet_valid: 'The access token is not valid yet. Check its "nbf" and the clocks.',
};

const tokenFault = (fault: TokenFault): CallerFault => ({
  ...fault,
  message: TOKEN_MESSAGES[fault.reason],
  challenge: `${INVALID_TOKEN}, error_description="${fault.reason}"`,
});

function identifyService(key: string, { serviceKeys }: CallerNeeds): IdentifyResult {
  if (isServiceKey(key, serviceKeys)) return { caller: { kind: 'service' } };
  return {
    fault: {
      reason: key === '' ? 'missing' : 'invalid',
      message: key === '' ? `No service key. ${SEND_ONE}.` : 'The service key is not valid',
      field: 'X-Service-Key',
      challenge: 'Bearer',
    },
  };
}
