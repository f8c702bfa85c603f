// Answers that follow from a provider's current settings: playback URLs, retries, uploads (contract B4, B5).
import type { Asset } from '../assets/asset.ts';
import type { HostedPlayback } from '../assets/asset-view.ts';
import type { PlayUrls } from '../assets/playback-manifest.ts';
import type { ProvidersContext } from './context.ts';
import { getProvider } from './provider.ts';

/** Undefined for assets that no hosted provider plays. */
export function findHostedPlayback(
  { registry }: ProvidersContext,
  { provider, playback }: Pick<Asset, 'provider' | 'playback'>,
): HostedPlayback | undefined {
  if (provider === null || playback?.kind !== 'hosted') return undefined;
  return getProvider(registry, provider).playback?.(playback);
}

/** URLs for players. `expires` is null when they need no signature. */
type HostedUrls = PlayUrls & { readonly expires: number | null };

/** Signed if the provider requires it; undefined for assets that no hosted provider plays. */
export function findHostedUrls(
  ctx: ProvidersContext,
  asset: Pick<Asset, 'provider' | 'playback' | 'visibility'>,
  expires: number,
): HostedUrls | undefined {
  const { provider, playback, visibility } = asset;
  const found = findHostedPlayback(ctx, asset);
  if (!found || provider === null || playback?.kind !== 'hosted') return undefined;
  const { urls } = found;
  const { videoId } = playback;
  const signed = getProvider(ctx.registry, provider).sign({
    videoId,
    urls,
    isPrivate: visibility === 'private',
    expires,
  });
  return signed ?? { ...urls, expires: null };
}

type HostedAsset = Pick<Asset, 'provider'>;

/** True when clients upload the bytes to a provider instead of our store. */
export const isHosted = ({ registry }: ProvidersContext, { provider }: HostedAsset): boolean =>
  provider !== null && registry.get(provider)?.kind === 'hosted';

/** True when this process can sign the URLs of private videos, so that the provider may require it. */
export const canSign = ({ registry }: ProvidersContext, { provider }: HostedAsset): boolean =>
  provider !== null && registry.get(provider)?.capabilities.signedPlayback === true;

/** True when this process can create videos at the provider. */
export const canTakeUploads = ({ registry }: ProvidersContext, { provider }: HostedAsset): boolean =>
  provider !== null && registry.get(provider)?.api !== undefined;

/** True when the provider can encode a stored video again. */
export const canRestart = ({ registry }: ProvidersContext, { provider }: HostedAsset): boolean =>
  provider !== null && registry.get(provider)?.api?.restart !== undefined;

/** A hosted video needs its provider's API for a new encoding and for a new upload. */
export const canRetry = (ctx: ProvidersContext, asset: HostedAsset): boolean =>
  !isHosted(ctx, asset) || canTakeUploads(ctx, asset);
