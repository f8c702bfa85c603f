// Decides whose request it is from an access token, verified here and now with our own secret (A4, B10).
import { verifyHs256, signHs256 } from './hs256.ts';
import { type JsonObject, getOwn, parseJsonObject } from './json-object.ts';
import type { Secret } from './secret.ts';
import { parseUserId } from './user-id.ts';

const LEEWAY_S = 5;
/** The end of year 9999: a larger number was meant as milliseconds, and such a token would never expire. */
const LATEST_S = 253_402_300_799;

/** Why a token is rejected, and which claim is at fault. */
export type TokenFault = {
  readonly reason:
    | 'malformed'
    | 'bad_signature'
    | 'wrong_type'
    | 'missing_claim'
    | 'expired'
    | 'not_yet_valid';
  readonly field?: 'type' | 'user_id' | 'exp' | 'nbf';
};
export type VerifiedToken = { readonly userId: string } | { readonly fault: TokenFault };

/** Claims are read only after the signature is right. */
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
  return userId === undefined ? { fault: { reason: 'missing_claim', field: 'user_id' } } : { userId };
}

/** For the sample, the tour and tests: elsewhere the application signs the tokens of its users. */
export const signAccessToken = (claims: JsonObject, secret: Secret): string =>
  signHs256(JSON.stringify(claims), secret.key);

function typeFault(claims: JsonObject): TokenFault | undefined {
  const type = getOwn(claims, 'type');
  if (type === 'access') return undefined;
  return { reason: type === undefined ? 'missing_claim' : 'wrong_type', field: 'type' };
}

function timeFault({ exp = LATEST_S, nbf = 0 }: JsonObject, nowSeconds: number): TokenFault | undefined {
  if (!isTime(exp)) return { reason: 'malformed', field: 'exp' };
  if (!isTime(nbf)) return { reason: 'malformed', field: 'nbf' };
  if (nowSeconds >= exp + LEEWAY_S) return { reason: 'expired', field: 'exp' };
  return nowSeconds < nbf - LEEWAY_S ? { reason: 'not_yet_valid', field: 'nbf' } : undefined;
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= LATEST_S;
