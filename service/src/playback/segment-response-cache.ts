// Caches the headers of segments that players just got, so that the next requests for them skip the route
// (contract B5). A response is reused only while the asset is the one that the first request read.
import { isCheckedPerRequest } from '../assets/access-rules.ts';
import type { PlaybackAsset } from '../assets/asset.ts';
import type { Secret } from '../auth/secret.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import type { ReadObject } from '../storage/object-store.ts';
import type { CachedResponse, PlainRequest } from '../platform/http/cached-responses.ts';
import { playbackTokenExpiry } from './playback-token.ts';

type CacheSources = {
  readonly isCurrentAsset: (asset: PlaybackAsset) => boolean;
  readonly findCachedObject: (key: ObjectKey) => ReadObject | undefined;
  readonly urlSecrets: readonly Secret[];
  readonly now: () => Date;
};

type SentSegment = Pick<PlainRequest, 'url' | 'address'> & {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly asset: PlaybackAsset;
  /** Undefined: a public asset, or a private one by cookie. */
  readonly token: string | undefined;
  /** Undefined: a trusted web server in front sends the bytes. */
  readonly key?: ObjectKey;
};

export type SegmentResponseCache = {
  readonly add: (segment: SentSegment) => void;
  readonly find: (request: PlainRequest) => CachedResponse | undefined;
};

type CachedSegment = {
  readonly asset: PlaybackAsset;
  readonly headers: readonly string[];
  /** Milliseconds since 1970. */
  readonly validUntil: number;
  readonly key: ObjectKey | undefined;
  /** The web server that the response is for; undefined: it is for every client. */
  readonly proxy: string | undefined;
};

/** About 2 KB each. */
const MAX_ENTRIES = 2000;

export function createSegmentResponseCache({
  isCurrentAsset,
  findCachedObject,
  urlSecrets,
  now,
}: CacheSources): SegmentResponseCache {
  /** By URL. */
  const entries = new Map<string, CachedSegment>();
  const bytesOf = (key: ObjectKey) => findCachedObject(key)?.bytes;

  return {
    find: (request) => {
      const segment = entries.get(request.url ?? '');
      if (!segment || !isCurrentAsset(segment.asset) || now().getTime() >= segment.validUntil)
        return undefined;
      const { key, proxy, headers } = segment;
      // The proxy was trusted when the response was cached. Other clients must not see the path of the file.
      if (key === undefined)
        return request.isForwarded && request.address === proxy ? { headers, body: '' } : undefined;
      const body = bytesOf(key);
      return body && { headers, body };
    },
    add: ({ url, address, status, headers, asset, token, key }) => {
      if (url === undefined || url.includes('?') || status !== 200) return;
      if (isCheckedPerRequest(asset, token)) return;
      if (key !== undefined && !bytesOf(key)) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined && entries.size >= MAX_ENTRIES) entries.delete(oldest);
      entries.set(url, {
        asset,
        key,
        headers: toList(key === undefined ? { ...headers, 'content-length': 0 } : headers),
        validUntil: Math.min(
          asset.expires_at?.getTime() ?? Infinity,
          token === undefined ? Infinity : 1000 * (playbackTokenExpiry(urlSecrets, token) ?? 0),
        ),
        proxy: key === undefined ? address : undefined,
      });
    },
  };
}

/** Each response has an `x-request-id` of its own. */
const toList = (headers: SentSegment['headers']): string[] =>
  Object.entries(headers)
    .filter(([name]) => name !== 'x-request-id')
    .flatMap(([name, value]) => [name, String(value)]);
