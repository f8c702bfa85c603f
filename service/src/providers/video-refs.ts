// The provider and the video of a hosted asset, which its row may lack.
import type { Asset, ProviderName } from '../assets/asset.ts';
import { conflict, type ServiceError } from '../platform/errors.ts';

export function providerOf({ provider }: Pick<Asset, 'provider'>): ProviderName {
  if (!provider) throw new Error('an image has no provider');
  return provider;
}

export function videoOf({ provider_video_id: id }: Pick<Asset, 'provider_video_id'>): string {
  if (id === null) throw new Error('the asset has no video at its provider');
  return id;
}

/** The link could not be stored: the asset has another video, or waits for none. */
export const assetChanged = (): ServiceError =>
  conflict('The asset changed while its upload was opened. Try again.', { reason: 'asset_changed' });
