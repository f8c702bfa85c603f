// Finds the source of an asset's image variants: the original of an image, or the poster of an encoded video.
import type { Asset } from '../assets/asset.ts';
import {
  type ObjectKey,
  originalKey,
  posterName,
  renditionKey,
  THUMBNAIL,
  variantKey,
} from '../storage/object-key.ts';

export type ImageSource = {
  readonly key: ObjectKey;
  /** A small JPEG that exists once the asset is ready. */
  readonly thumbnail: ObjectKey;
  /** Prefix of variant names, so that a new poster gets new variants. */
  readonly prefix: string;
  /** Undefined: the size must be read from the header of the JPEG at `key`. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
  readonly animated: boolean;
  readonly alpha: boolean;
};

type Pictured = Pick<Asset, 'id' | 'original_upload' | 'playback' | 'width' | 'height'>;

/** Undefined before the asset is ready, and for videos of other encoders. */
export function imageSourceOf(asset: Pictured): ImageSource | undefined {
  const { id, playback, width, height } = asset;
  if (playback?.kind === 'own') {
    const { folder, posterTimeMs } = playback;
    const key = renditionKey(id, folder, posterTimeMs === undefined ? THUMBNAIL : posterName(posterTimeMs));
    const prefix = `v${folder}-${posterTimeMs ?? 'auto'}-`;
    return { key, thumbnail: key, prefix, size: undefined, animated: false, alpha: false };
  }
  if (playback?.kind !== 'image' || width === null || height === null) return undefined;
  const { animated, alpha } = playback;
  return {
    key: originalKey(asset),
    thumbnail: variantKey(id, THUMBNAIL),
    prefix: '',
    size: { width, height },
    animated,
    alpha,
  };
}

/** The `v` parameter of image URLs. Changes with the visibility, the encoding and the poster. */
export const imageVersion = ({
  playback,
  playback_version: version,
}: Pick<Asset, 'playback' | 'playback_version'>) =>
  playback?.kind === 'own'
    ? `${version}-${playback.folder}-${playback.posterTimeMs ?? 'auto'}`
    : String(version);

/** How long a cache may use an image after its asset became private or its poster changed. */
const MAX_AGE_S = { current: 3600, unversioned: 300, substitute: 60 } as const;
const PRIVATE_MAX_AGE_S = 300;

type Caching = { readonly version: string | undefined; readonly isSubstitute: boolean };

/** Never `immutable`: a shared cache must revalidate, because the asset may have become private. */
export function imageCaching(
  asset: Pick<Asset, 'visibility' | 'playback' | 'playback_version'>,
  { version, isSubstitute }: Caching,
): string {
  const age = isSubstitute
    ? MAX_AGE_S.substitute
    : version === imageVersion(asset)
      ? MAX_AGE_S.current
      : MAX_AGE_S.unversioned;
  return asset.visibility === 'public'
    ? `public, max-age=${age}`
    : `private, max-age=${Math.min(age, PRIVATE_MAX_AGE_S)}`;
}
