// Headers that tell browsers and CDNs how long to keep a playback file, and how to purge it (contract B5).
import { CHECKED_PER_REQUEST, isCheckedPerRequest } from '../assets/access-rules.ts';
import type { PlaybackAsset } from '../assets/asset.ts';
import { limitMaxAge, limitSeconds } from '../assets/expiry.ts';
import type { Secret } from '../auth/secret.ts';
import { playbackTokenExpiry } from './playback-token.ts';
import { cacheControlFor, ENTRY_MAX_AGE_S } from './served-file.ts';

type CacheRules = {
  readonly urlSecrets: readonly Secret[];
  readonly now: () => Date;
  readonly cdnMaxAge: CdnMaxAge;
};

/** Seconds for which the operator's CDN may keep segments; 0: as `Cache-Control` says. */
export type CdnMaxAge = { readonly publicSeconds: number; readonly privateSeconds: number };

type RequestedFile = {
  readonly isEntry: boolean;
  readonly isSegment: boolean;
  /** The token in the path; undefined: a public asset, or a private one by cookie. */
  readonly token: string | undefined;
};

/**
 * `CDN-Cache-Control` (RFC 9213) is for the operator's CDN alone: other shared caches obey `Cache-Control`.
 * The tags let one call purge all files of an asset.
 */
export function buildCacheHeaders(
  rules: CacheRules,
  asset: PlaybackAsset,
  file: RequestedFile,
): Readonly<Record<string, string>> {
  const isChecked = isCheckedPerRequest(asset, file.token);
  // `video.mp4` and `audio.m4a` are segments by their type, but the next attempt replaces them.
  const isKeptByCdn = file.isSegment && !file.isEntry && !isChecked;
  const cdnSeconds = isKeptByCdn ? cdnSecondsFor(rules, asset, file.token) : 0;
  return {
    'cache-control': isChecked
      ? CHECKED_PER_REQUEST
      : limitMaxAge(cacheControlFor(asset, file.isEntry), asset, rules.now()),
    'cache-tag': asset.id,
    'surrogate-key': asset.id,
    ...(cdnSeconds > 0 && { 'cdn-cache-control': `max-age=${cdnSeconds}` }),
  };
}

/** A URL with a token is kept no longer than the token is valid, and none longer than the asset. */
function cdnSecondsFor(
  { urlSecrets, now, cdnMaxAge }: CacheRules,
  asset: PlaybackAsset,
  token: string | undefined,
): number {
  if (asset.visibility === 'public') return limitSeconds(cdnMaxAge.publicSeconds, asset, now());
  if (token === undefined || cdnMaxAge.privateSeconds === 0) return 0;
  const expires = playbackTokenExpiry(urlSecrets, token) ?? 0;
  const seconds = Math.min(cdnMaxAge.privateSeconds, Math.floor(expires - now().getTime() / 1000));
  return limitSeconds(seconds, asset, now());
}

type Viewed = { readonly asset: PlaybackAsset; readonly token: string | undefined };

type Redirect = { readonly isEntry: boolean; readonly expiresAt: Date; readonly now: Date };

/**
 * A browser that seeks back gets the same URL of the store, and with it the bytes in its cache. Entry files
 * change with the next run, and access rules may forbid them.
 */
export function redirectCaching({ asset, token }: Viewed, { isEntry, expiresAt, now }: Redirect): string {
  if (isCheckedPerRequest(asset, token)) return CHECKED_PER_REQUEST;
  const seconds = Math.max(0, Math.floor((expiresAt.getTime() - now.getTime()) / 2000));
  return `private, max-age=${isEntry ? Math.min(seconds, ENTRY_MAX_AGE_S) : seconds}`;
}

/** Players read a growing manifest again every few seconds. */
const GROWING_MAX_AGE_S = 1;

export const growingCaching = ({ asset, token }: Viewed): string =>
  isCheckedPerRequest(asset, token)
    ? CHECKED_PER_REQUEST
    : `${asset.visibility}, max-age=${GROWING_MAX_AGE_S}`;
