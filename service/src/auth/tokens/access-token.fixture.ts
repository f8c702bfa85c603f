// Shared by the tests of access tokens: two valid secrets, a fixed time, and tokens with any claims.
import { createHmac } from 'node:crypto';
import { signAccessToken, verifyAccessToken } from './access-token.ts';
import { toSecret } from '../secret.ts';

export const NOW = 1_700_000_000;
export const current = toSecret('current-secret-0123456789-0123456789');
export const previous = toSecret('previous-secret-0123456789-0123456789');

/** The verified user; undefined for a rejected token. */
export const verify = (token: string, now = NOW) => {
  const verified = verifyAccessToken(token, [current, previous], now);
  return 'userId' in verified ? verified : undefined;
};

export const verifyClaims = (claims: Record<string, unknown>) =>
  verify(signAccessToken({ user_id: 'ada', type: 'access', ...claims }, current));

export const encode = (text: string) => Buffer.from(text).toString('base64url');

/** A token with a valid signature and exactly this text as claims, which need not be valid JSON. */
export function signText(claims: string, header = '{"alg":"HS256","typ":"JWT"}'): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${createHmac('sha256', current.reveal()).update(text).digest('base64url')}`;
}
