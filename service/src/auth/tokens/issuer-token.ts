// Verifies access tokens of an identity provider and reads their user id (contract B10).
import { readTokenEnd, timeFault, type VerifiedToken } from './access-token.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import { type JsonObject, getOwn, parseJsonObject } from '../../platform/values/strict-json.ts';
import { fromBase64url } from '../signature.ts';
import { parseUserId } from '../user-id.ts';

export type TokenIssuer = {
  readonly jwksUrl: string;
  /** The exact value of `iss`. */
  readonly issuer: string;
  /** One of the values of `aud`; undefined: tokens of every audience are accepted. */
  readonly audience: string | undefined;
  /** The claim that contains the user id. */
  readonly userClaim: string;
};

/** An identity provider whose tokens are accepted, with its public keys. */
export type TrustedIssuer = TokenIssuer & { readonly keys: IssuerKeys };

/** Asymmetric only, so that a public key is never used as the secret of a MAC. */
export const ISSUER_ALGORITHMS = ['RS256', 'ES256'];

/** Header members that change how a token is processed. Keys in the header (`jwk`, `jku`, …) are ignored. */
const REJECTED_MEMBERS = ['crit', 'b64', 'zip'];

/** `other`: not signed with one of ISSUER_ALGORITHMS. */
type IssuerTokenForm = 'plain' | 'malformed' | 'other';

/** Three parts of canonical base64url, so that a token has one valid spelling. */
function readTokenForm(token: string): IssuerTokenForm {
  const parts = token.split('.').map(fromBase64url);
  const [header] = parts;
  const members = header && parseJsonObject(header);
  if (!members || !ISSUER_ALGORITHMS.includes(getOwn(members, 'alg') as string)) return 'other';
  return parts.length === 3 && parts.every((part) => part !== undefined) && !hasRejectedMember(members)
    ? 'plain'
    : 'malformed';
}

const hasRejectedMember = (header: JsonObject): boolean =>
  REJECTED_MEMBERS.some((name) => Object.hasOwn(header, name));

/** Undefined for a token that is not signed with an algorithm of identity providers. Throws UNAVAILABLE. */
export function verifyIssuerToken(
  token: string,
  issuer: TrustedIssuer,
  nowSeconds: number,
): Promise<VerifiedToken> | undefined {
  const form = readTokenForm(token);
  if (form === 'other') return undefined;
  if (form === 'malformed') return Promise.resolve({ fault: { reason: 'malformed' } });
  return issuer.keys
    .verify(token)
    .then((payload) =>
      typeof payload === 'string'
        ? { fault: { reason: payload } }
        : readClaims(parseJsonObject(payload), issuer, nowSeconds),
    );
}

function readClaims(claims: JsonObject | undefined, issuer: TokenIssuer, nowSeconds: number): VerifiedToken {
  if (!claims) return { fault: { reason: 'malformed' } };
  const fault = originFault(claims, issuer) ?? purposeFault(claims) ?? timeFault(claims, nowSeconds);
  if (fault) return { fault };
  const field = issuer.userClaim;
  const userId = parseUserId(getOwn(claims, field));
  return userId === undefined
    ? { fault: { reason: 'missing_claim', field } }
    : { userId, ...readTokenEnd(claims) };
}

type Fault = Extract<VerifiedToken, { fault: unknown }>['fault'];

function originFault(claims: JsonObject, { issuer, audience }: TokenIssuer): Fault | undefined {
  const iss = getOwn(claims, 'iss');
  if (iss !== issuer) return { reason: iss === undefined ? 'missing_claim' : 'wrong_issuer', field: 'iss' };
  if (audience === undefined) return undefined;
  const aud = getOwn(claims, 'aud');
  if (aud === undefined) return { reason: 'missing_claim', field: 'aud' };
  return [aud].flat().includes(audience) ? undefined : { reason: 'wrong_audience', field: 'aud' };
}

/**
 * Identity providers do not send `type`, but one that does must not have issued the token for another
 * purpose. Without `exp` a token would be valid until the key is replaced.
 */
function purposeFault(claims: JsonObject): Fault | undefined {
  const type = getOwn(claims, 'type');
  if (type !== undefined && type !== 'access') return { reason: 'wrong_type', field: 'type' };
  return getOwn(claims, 'exp') === undefined ? { reason: 'missing_claim', field: 'exp' } : undefined;
}
