// Verifies access tokens and reads their user id (contract A4, B10).
import { verifyHs256, signHs256 } from './hs256.ts';
import { type JsonObject, getOwn, parseJsonObject } from '../../platform/values/strict-json.ts';
import type { Secret } from '../secret.ts';
import { parseUserId } from '../user-id.ts';

const LEEWAY_S = 5;
/**
 * The end of the year 9999. A larger number is probably in milliseconds, and the token would never expire.
 */
const LATEST_S = 253_402_300_799;

/** Why a token is rejected, and the invalid claim. */
export type TokenFault = {
  readonly reason:
    | 'malformed'
    | 'bad_signature'
    | 'wrong_type'
    | 'missing_claim'
    | 'expired'
    | 'not_yet_valid'
    | 'unknown_key'
    | 'wrong_issuer'
    | 'wrong_audience';
  readonly field?: string;
};
/** `tokenEnd`: when the token is no longer accepted; absent for tokens that do not expire. */
export type VerifiedToken =
  | { readonly userId: string; readonly tokenEnd?: number }
  | { readonly fault: TokenFault };

/** Reads the claims only after verifying the signature. */
export function verifyAccessToken(
  token: string,
  secrets: readonly Secret[],
  nowSeconds: number,
): VerifiedToken {
  const payload = verifyHs256(
    token,
    secrets.map((secret) => secret.key),
  );
  if (typeof payload === 'string') return { fault: { reason: payload } };
  const claims = parseJsonObject(payload);
  if (!claims) return { fault: { reason: 'malformed' } };
  const fault = typeFault(claims) ?? timeFault(claims, nowSeconds);
  if (fault) return { fault };
  const userId = parseUserId(getOwn(claims, 'user_id'));
  return userId === undefined
    ? { fault: { reason: 'missing_claim', field: 'user_id' } }
    : { userId, ...readTokenEnd(claims) };
}

/** For examples and tests. In production, the application signs the tokens of its users. */
export const signAccessToken = (claims: JsonObject, secret: Secret): string =>
  signHs256(JSON.stringify(claims), secret.key);

function typeFault(claims: JsonObject): TokenFault | undefined {
  const type = getOwn(claims, 'type');
  if (type === 'access') return undefined;
  return { reason: type === undefined ? 'missing_claim' : 'wrong_type', field: 'type' };
}

export function timeFault(
  { exp = LATEST_S, nbf = 0 }: JsonObject,
  nowSeconds: number,
): TokenFault | undefined {
  if (!isTime(exp)) return { reason: 'malformed', field: 'exp' };
  if (!isTime(nbf)) return { reason: 'malformed', field: 'nbf' };
  if (nowSeconds >= exp + LEEWAY_S) return { reason: 'expired', field: 'exp' };
  return nowSeconds < nbf - LEEWAY_S ? { reason: 'not_yet_valid', field: 'nbf' } : undefined;
}

/** After `timeFault` has found no fault. */
export const readTokenEnd = ({ exp }: JsonObject): { readonly tokenEnd?: number } =>
  isTime(exp) ? { tokenEnd: exp + LEEWAY_S } : {};

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= LATEST_S;
