// Rules that depend on a provider's current settings: playback URLs, retries and uploads (contract B4, B5).
import type { Asset } from '../assets/asset.ts';
import type { HostedPlayback } from '../assets/asset-view.ts';
import type { PlayUrls } from '../assets/playback-manifest.ts';
import { getProvider, type Providers } from './provider.ts';

type Needs = { readonly providers: Providers };

/** Undefined for assets that no hosted provider plays. */
export function findHostedPlayback(
  { providers }: Needs,
  { provider, playback }: Pick<Asset, 'provider' | 'playback'>,
): HostedPlayback | undefined {
  if (provider === null || playback?.kind !== 'hosted') return undefined;
  return getProvider(providers, provider).playback?.(playback);
}

/** URLs for players. `expires` is null when they need no signature. */
type HostedUrls = PlayUrls & { readonly expires: number | null };

/**
 * Signed by the provider's scheme where it requires that; undefined for assets that no hosted provider plays.
 */
export function findHostedUrls(
  needs: Needs,
  asset: Pick<Asset, 'provider' | 'playback' | 'visibility'>,
  expires: number,
): HostedUrls | undefined {
  const { provider, playback, visibility } = asset;
  const found = findHostedPlayback(needs, asset);
  if (!found || provider === null || playback?.kind !== 'hosted') return undefined;
  const { urls } = found;
  const { videoId } = playback;
  const signed = getProvider(needs.providers, provider).sign({
    videoId,
    urls,
    isPrivate: visibility === 'private',
    expires,
  });
  return signed ?? { ...urls, expires: null };
}

type HostedAsset = Pick<Asset, 'provider'>;

/** True when the bytes are uploaded to a provider instead of our store. */
export const isHosted = ({ providers }: Needs, { provider }: HostedAsset): boolean =>
  provider !== null && providers.get(provider)?.kind === 'hosted';

/** True when this process can sign the URLs of private videos, so that the provider may demand it. */
export const canSign = ({ providers }: Needs, { provider }: HostedAsset): boolean =>
  provider !== null && providers.get(provider)?.capabilities.signedPlayback === true;

/** True when new videos can be created at the provider. */
export const canTakeUploads = ({ providers }: Needs, { provider }: HostedAsset): boolean =>
  provider !== null && providers.get(provider)?.api !== undefined;

/** True when the provider can encode a stored video again. */
export const canRestart = ({ providers }: Needs, { provider }: HostedAsset): boolean =>
  provider !== null && providers.get(provider)?.api?.restart !== undefined;

/** A hosted video needs its provider's API for a new encoding and for a new upload. */
export const canRetry = (needs: Needs, asset: HostedAsset): boolean =>
  !isHosted(needs, asset) || canTakeUploads(needs, asset);
