// Finds the source of an asset's image variants: the original of an image, or the poster of an encoded video.
import type { FocalPoint } from '@mediary/contract/schemas/common';
import { CHECKED_PER_REQUEST, isCheckedPerRequest } from '../assets/access-rules.ts';
import type { Asset } from '../assets/asset.ts';
import { limitMaxAge } from '../assets/expiry.ts';
import {
  imageThumbnailKey,
  type ObjectKey,
  originalKey,
  posterName,
  renditionKey,
  THUMBNAIL,
} from '../storage/object-key.ts';
import { formatFocalPoint } from './variants/image-edits.ts';

export type VariantSource = {
  readonly key: ObjectKey;
  /** A small JPEG that exists once the asset is ready. */
  readonly thumbnail: ObjectKey;
  /** Prefix of variant names, so that a new poster or a new file gets new variants. */
  readonly prefix: string;
  /** Undefined: the size must be read from the header of the JPEG at `key`. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
  readonly animated: boolean;
  readonly alpha: boolean;
  /** Null for posters. */
  readonly focalPoint: FocalPoint | null;
};

type VariantSourceFields = Pick<
  Asset,
  'id' | 'original_upload' | 'playback' | 'width' | 'height' | 'focal_point'
>;

/** Undefined before the asset is ready, and for videos of other encoders. */
export function findVariantSource(asset: VariantSourceFields): VariantSource | undefined {
  const { id, playback, width, height } = asset;
  if (playback?.kind === 'own') {
    if (playback.growing) return undefined;
    const { folder, posterTimeMs } = playback;
    const key = renditionKey(id, folder, posterTimeMs === undefined ? THUMBNAIL : posterName(posterTimeMs));
    const prefix = `v${folder}-${posterTimeMs ?? 'auto'}-`;
    return { key, thumbnail: key, prefix, size: undefined, animated: false, alpha: false, focalPoint: null };
  }
  if (playback?.kind !== 'image' || width === null || height === null) return undefined;
  const { animated, alpha, attempt } = playback;
  return {
    key: originalKey(asset),
    thumbnail: imageThumbnailKey(id, attempt),
    prefix: attempt === 1 ? '' : `a${attempt}-`,
    size: { width, height },
    animated,
    alpha,
    focalPoint: asset.focal_point,
  };
}

/** The `v` parameter of image URLs. Changes with the visibility, file, encoding, poster and focal point. */
export function imageVersion({ playback, playback_version: version, focal_point: point }: VersionedImage) {
  if (playback?.kind === 'own') return `${version}-${playback.folder}-${playback.posterTimeMs ?? 'auto'}`;
  const isLater = playback?.kind === 'image' && playback.attempt > 1;
  return [
    version,
    ...(isLater ? [`a${playback.attempt}`] : []),
    ...(point ? [formatFocalPoint(point)] : []),
  ].join('-');
}

type VersionedImage = Pick<Asset, 'playback' | 'playback_version' | 'focal_point'>;

/** How long a cache may use an image after its asset became private, or its poster or focal point changed. */
const MAX_AGE_S = { current: 3600, unversioned: 300, substitute: 60 } as const;
const PRIVATE_MAX_AGE_S = 300;

type Caching = {
  /** The token in the path of the request. */
  readonly token: string | undefined;
  readonly version?: string | undefined;
  readonly isSubstitute?: boolean;
  readonly now: Date;
};

/** Never `immutable`: a shared cache must revalidate, because the asset may have become private. */
export function imageCaching(
  asset: VersionedImage & Pick<Asset, 'visibility' | 'access' | 'expires_at'>,
  { token, version, isSubstitute = false, now }: Caching,
): string {
  if (isCheckedPerRequest(asset, token)) return CHECKED_PER_REQUEST;
  const age = isSubstitute
    ? MAX_AGE_S.substitute
    : version === imageVersion(asset)
      ? MAX_AGE_S.current
      : MAX_AGE_S.unversioned;
  const header =
    asset.visibility === 'public'
      ? `public, max-age=${age}`
      : `private, max-age=${Math.min(age, PRIVATE_MAX_AGE_S)}`;
  return limitMaxAge(header, asset, now);
}

const START = 0xffd8;
/** Start-of-frame markers. 0xc4, 0xc8 and 0xcc have other meanings. */
const isFrameHeader = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Undefined when the bytes are not a JPEG or end before the frame header. */
export function parseJpegSize(
  bytes: Uint8Array,
): { readonly width: number; readonly height: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.byteLength < 4 || view.getUint16(0) !== START) return undefined;
  for (let at = 2; at + 9 <= view.byteLength; at += 2 + view.getUint16(at + 2)) {
    if (view.getUint8(at) !== 0xff) return undefined;
    if (isFrameHeader(view.getUint8(at + 1)))
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
  }
  return undefined;
}
