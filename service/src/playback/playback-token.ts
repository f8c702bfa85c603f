// The right to play one asset for some hours, as a path segment; it ends early when the asset's playback version is raised (contract B5).
import type { Asset } from '../assets/asset.ts';
import type { Secret } from '../auth/secret.ts';
import { deriveKey, verifyToken, signToken } from '../auth/signed-token.ts';

type Played = Pick<Asset, 'id' | 'playback_version' | 'duration_ms'>;

/** Seconds since 1970: the settings' time from now, or twice the asset's length where that is longer. */
export const tokenExpiry = (
  { duration_ms }: Played,
  { now, ttlSeconds }: { now: Date; ttlSeconds: number },
): number =>
  Math.floor(now.getTime() / 1000) + Math.max(ttlSeconds, Math.ceil((2 * (duration_ms ?? 0)) / 1000));

export const issuePlaybackToken = (secrets: readonly Secret[], asset: Played, expires: number): string =>
  signToken(deriveKey(secrets[0] as Secret, 'playback'), `${expires}:${asset.playback_version}:${asset.id}`);

/** Whether the token plays this asset, in its present version, now. */
export function isPlaybackToken(
  secrets: readonly Secret[],
  asset: Played,
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
