// Playback tokens: they allow playback of one asset for some hours, until its playback version changes
// (contract B5).
import type { Asset } from '../assets/asset.ts';
import { limitSeconds } from '../assets/expiry.ts';
import type { Secret } from '../auth/secret.ts';
import { deriveKey, verifyToken, signToken } from '../auth/signed-token.ts';

type TokenSubject = Pick<Asset, 'id' | 'playback_version'>;

/**
 * In seconds since 1970: the configured lifetime from now, or twice the duration if that is longer, but not
 * after the asset expires.
 */
export const tokenExpiry = (
  asset: Pick<Asset, 'duration_ms' | 'expires_at'>,
  { now, ttlSeconds }: { now: Date; ttlSeconds: number },
): number => {
  const seconds = Math.max(ttlSeconds, Math.ceil((2 * (asset.duration_ms ?? 0)) / 1000));
  return Math.floor(now.getTime() / 1000) + limitSeconds(seconds, asset, now);
};

export const issuePlaybackToken = (
  secrets: readonly Secret[],
  asset: TokenSubject,
  expires: number,
): string =>
  signToken(deriveKey(secrets[0] as Secret, 'playback'), `${expires}:${asset.playback_version}:${asset.id}`);

/** True when the token is valid for the asset and its current playback version. */
export function isPlaybackToken(
  secrets: readonly Secret[],
  asset: TokenSubject,
  { token, now }: { token: string; now: Date },
): boolean {
  const { id, version, expires } = findClaims(secrets, token) ?? {};
  return (
    id === asset.id &&
    version === asset.playback_version &&
    expires !== undefined &&
    expires > now.getTime() / 1000
  );
}

/** In seconds since 1970; undefined when the service did not sign the token. */
export const playbackTokenExpiry = (secrets: readonly Secret[], token: string): number | undefined =>
  findClaims(secrets, token)?.expires;

type Claims = { readonly expires: number; readonly version: number; readonly id: string | undefined };

const MAX_VERIFIED = 10_000;
/** A player sends one token with every request. Only tokens with a valid signature are kept. */
const verified = new WeakMap<readonly Secret[], Map<string, Claims>>();

function findClaims(secrets: readonly Secret[], token: string): Claims | undefined {
  const known = verified.get(secrets) ?? new Map<string, Claims>();
  const claims = known.get(token) ?? readClaims(secrets, token);
  if (!claims || known.has(token)) return claims;
  const [oldest] = known.keys();
  if (oldest !== undefined && known.size >= MAX_VERIFIED) known.delete(oldest);
  verified.set(secrets, known.set(token, claims));
  return claims;
}

function readClaims(secrets: readonly Secret[], token: string): Claims | undefined {
  const payload = verifyToken(
    secrets.map((root) => deriveKey(root, 'playback')),
    token,
  );
  if (payload === undefined) return undefined;
  const [expires, version, id] = payload.split(':');
  return { expires: Number(expires), version: Number(version), id };
}
