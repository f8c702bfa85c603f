// Decides whose request it is from an access token, verified here and now with our own secret (A4, B10).
import { openHs256, signHs256 } from './hs256.ts';
import { type JsonObject, own, parseJsonObject } from './json-object.ts';
import type { Secret } from './secret.ts';
import { userIdOf } from './user-id.ts';

const LEEWAY_S = 5;
/** The end of year 9999: a larger number was meant as milliseconds, and such a token would never expire. */
const LATEST_S = 253_402_300_799;

export function verifyAccessToken(
  token: string,
  secrets: readonly Secret[],
  nowSeconds: number,
): { userId: string } | undefined {
  const payload = openHs256(
    token,
    secrets.map((secret) => secret.key),
  );
  const claims = payload && parseJsonObject(payload);
  if (!claims || own(claims, 'type') !== 'access' || !isInForce(claims, nowSeconds)) return undefined;
  const userId = userIdOf(own(claims, 'user_id'));
  return userId === undefined ? undefined : { userId };
}

/** For the sample, the tour and tests: elsewhere the application signs the tokens of its users. */
export const signAccessToken = (claims: JsonObject, secret: Secret): string =>
  signHs256(JSON.stringify(claims), secret.key);

function isInForce({ exp = LATEST_S, nbf = 0 }: JsonObject, nowSeconds: number): boolean {
  return isTime(exp) && isTime(nbf) && nowSeconds < exp + LEEWAY_S && nowSeconds >= nbf - LEEWAY_S;
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= LATEST_S;
