// Playback tokens: they allow playback of one asset for some hours, until its playback version changes
// (contract B5).
import type { Asset } from '../assets/asset.ts';
import type { Secret } from '../auth/secret.ts';
import { deriveKey, verifyToken, signToken } from '../auth/signed-token.ts';

type TokenSubject = Pick<Asset, 'id' | 'playback_version' | 'duration_ms'>;

/** In seconds since 1970: the configured lifetime from now, or twice the duration if that is longer. */
export const tokenExpiry = (
  { duration_ms }: TokenSubject,
  { now, ttlSeconds }: { now: Date; ttlSeconds: number },
): number =>
  Math.floor(now.getTime() / 1000) + Math.max(ttlSeconds, Math.ceil((2 * (duration_ms ?? 0)) / 1000));

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
  const payload = verifyToken(
    secrets.map((root) => deriveKey(root, 'playback')),
    token,
  );
  const [expires, version, id] = payload?.split(':') ?? [];
  return (
    id === asset.id && Number(version) === asset.playback_version && Number(expires) > now.getTime() / 1000
  );
}
