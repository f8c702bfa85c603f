// Identifies the caller: a user by an access token, or a service by its key, never both (contract A4).
import type { UnauthorizedReason } from '@mediary/contract/errors';
import { type TokenFault, type VerifiedToken, verifyAccessToken } from './tokens/access-token.ts';
import { type TrustedIssuer, verifyIssuerToken } from './tokens/issuer-token.ts';
import { type Secret, isServiceKey } from './secret.ts';
import { isNamedKey, type ServiceKeyGrant } from './keys/service-key-grant.ts';
import { isUploadToken, type UploadGrant, verifyUploadToken } from './tickets/upload-token.ts';

export type Caller =
  /**
   * `upload`: the bounds of an upload token; absent for access tokens, which allow everything. `tokenEnd`:
   * when the access token expires, in seconds since 1970.
   */
  | {
      readonly kind: 'user';
      readonly userId: string;
      readonly upload?: UploadGrant;
      readonly tokenEnd?: number;
    }
  /**
   * `key`: what a named key allows; absent for SERVICE_API_KEY, which allows everything. `isOperator`: the
   * console session of an operator, who may do the same.
   */
  | { readonly kind: 'service'; readonly key?: ServiceKeyGrant; readonly isOperator?: true };

/** The key of limits per user; undefined for services, which only total limits apply to. */
export const limitKeyOf = (caller: Caller): string | undefined =>
  caller.kind === 'user' ? caller.userId : undefined;

/** All values of both headers: a proxy and a client may each have sent one. */
export type Credentials = {
  readonly authorization: readonly string[];
  readonly serviceKey: readonly string[];
};

/** What credentials are verified with. */
type Verifiers = {
  readonly tokenSecrets: readonly Secret[];
  readonly serviceKeys: readonly Secret[];
  /** They sign upload tokens. */
  readonly urlSecrets: readonly Secret[];
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

export function identify({ authorization, serviceKey }: Credentials, verifiers: Verifiers): IdentifyResult {
  const [header] = authorization;
  const [key] = serviceKey;
  if (header === undefined && key === undefined) return NO_CREDENTIALS;
  if (authorization.length + serviceKey.length > 1) return MULTIPLE_CREDENTIALS;
  return key === undefined ? identifyUser(header ?? '', verifiers) : identifyService(key, verifiers);
}

const SEND_ONE = 'Send either "Authorization: Bearer <access token>" or "X-Service-Key: <key>"';
const NO_CREDENTIALS: IdentifyResult = {
  fault: { reason: 'missing', message: `No credentials. ${SEND_ONE}.`, challenge: 'Bearer' },
};
export const MULTIPLE_CREDENTIALS: { readonly fault: CallerFault } = {
  fault: {
    reason: 'multiple_credentials',
    message: `More than one credential was sent. ${SEND_ONE}, once.`,
    challenge: 'Bearer error="invalid_request"',
  },
};

function identifyUser(header: string, verifiers: Verifiers): IdentifyResult {
  const { tokenSecrets, nowSeconds } = verifiers;
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) return malformedHeader(header);
  if (isUploadToken(token)) return identifyUploader(token, verifiers);
  return toResult(verifyAccessToken(token, tokenSecrets, nowSeconds), TOKEN_MESSAGES);
}

function identifyUploader(token: string, { urlSecrets, nowSeconds }: Verifiers): IdentifyResult {
  const verified = verifyUploadToken(urlSecrets, token, nowSeconds);
  if ('fault' in verified)
    return { fault: tokenFault({ reason: verified.fault }, UPLOAD_TOKEN_MESSAGES[verified.fault]) };
  const grant = verified.content;
  return { caller: { kind: 'user', userId: grant.ownerUserId, upload: grant } };
}

const UPLOAD_TOKEN_MESSAGES = {
  bad_signature: 'The upload token is not valid.',
  expired: 'The upload token has expired. Request a new one.',
};

const toResult = (verified: VerifiedToken, messages: Messages): IdentifyResult =>
  'userId' in verified
    ? { caller: { kind: 'user', ...verified } }
    : { fault: tokenFault(verified.fault, messages[verified.fault.reason] ?? INVALID) };

/**
 * For callers that `identify` rejected: a token of the identity provider. Undefined if the credentials
 * contain none; no other caller waits for the provider.
 */
export function identifyByIssuer(
  { authorization: [header = ''] }: Credentials,
  { reason }: CallerFault,
  { issuer, nowSeconds }: { readonly issuer: TrustedIssuer | undefined; readonly nowSeconds: number },
): Promise<IdentifyResult> | undefined {
  const token = BEARER.exec(header)?.[1];
  if (!issuer || token === undefined || reason !== 'bad_signature') return undefined;
  return verifyIssuerToken(token, issuer, nowSeconds)?.then((verified) =>
    toResult(verified, issuerMessages(issuer)),
  );
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

type Messages = Readonly<Partial<Record<TokenFault['reason'], string>>>;

const INVALID = 'The access token is not valid.';
const EXPIRED = {
  expired: 'The access token has expired. Request a new one.',
  not_yet_valid: 'The access token is not valid yet. Check its "nbf" and the clocks.',
};

const TOKEN_MESSAGES: Messages = {
  ...EXPIRED,
  malformed: 'The access token is malformed. Expected: a JWT signed with HS256.',
  bad_signature: 'The signature of the access token is not valid. Expected: HS256 with ACCESS_TOKEN_SECRET.',
  wrong_type: 'The token is not an access token. Its claim "type" must be "access".',
  missing_claim: 'The access token lacks a claim. It needs "type" = "access" and a "user_id".',
};

const issuerMessages = ({ userClaim, audience }: TrustedIssuer): Messages => ({
  ...EXPIRED,
  malformed: 'The access token is malformed. Expected: a JWT signed with HS256, RS256 or ES256.',
  bad_signature: 'The signature of the access token does not verify with the key of the identity provider.',
  unknown_key: 'The identity provider has no key with the "kid" of the access token.',
  wrong_type: 'The token is not an access token: its claim "type" is not "access".',
  missing_claim:
    'The access token lacks a claim. ' +
    `It needs "iss", ${audience === undefined ? '' : '"aud", '}"exp" and "${userClaim}".`,
  wrong_issuer: 'The access token is from another issuer. "iss" must be ACCESS_TOKEN_ISSUER.',
  wrong_audience: 'The access token is for another audience. "aud" must contain ACCESS_TOKEN_AUDIENCE.',
});

const tokenFault = (fault: TokenFault, message: string): CallerFault => ({
  ...fault,
  message,
  challenge: `${INVALID_TOKEN}, error_description="${fault.reason}"`,
});

function identifyService(key: string, { serviceKeys }: Verifiers): IdentifyResult {
  if (isServiceKey(key, serviceKeys)) return { caller: { kind: 'service' } };
  return {
    fault: {
      reason: key === '' ? 'missing' : 'invalid_credential',
      message: key === '' ? `No service key. ${SEND_ONE}.` : 'The service key is not valid',
      field: 'X-Service-Key',
      challenge: 'Bearer',
    },
  };
}

/** Finds the grant of a named key; `expired` is told only to those who have the key. */
export type FindServiceKey = (key: string) => Promise<ServiceKeyGrant | 'expired' | undefined>;

/** For callers that `identify` rejected: a named service key. Undefined if the credentials contain none. */
export function identifyByServiceKey(
  { serviceKey: [key = ''] }: Credentials,
  fault: CallerFault,
  findServiceKey: FindServiceKey,
): Promise<IdentifyResult> | undefined {
  if (fault.reason !== 'invalid_credential' || !isNamedKey(key)) return undefined;
  return findServiceKey(key).then((grant) => {
    if (grant === 'expired')
      return { fault: { ...fault, reason: grant, message: 'The service key has expired' } };
    return grant ? { caller: { kind: 'service', key: grant } } : { fault };
  });
}
