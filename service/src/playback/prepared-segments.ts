// Keeps the headers of segments that players just got, so that the next requests for them skip the route
// (contract B5). A response is used again only while the asset is the one that the first request read.
import type { PlayedAsset } from '../assets/asset.ts';
import { isByCookie } from '../auth/playback-cookie.ts';
import type { Secret } from '../auth/secret.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import type { ReadObject } from '../storage/object-store.ts';
import { playbackTokenExpiry } from './playback-token.ts';

type Needs = {
  readonly isCurrentAsset: (asset: PlayedAsset) => boolean;
  readonly findHotObject: (key: ObjectKey) => ReadObject | undefined;
  readonly urlSecrets: readonly Secret[];
  readonly now: () => Date;
};

/** A GET without a range, conditions or a body. */
type PlainRequest = {
  readonly url: string | undefined;
  /** The address of the other end of the connection: the client, or a proxy. */
  readonly address: string | undefined;
  /** Whether a proxy names its client. */
  readonly isForwarded: boolean;
};
/** Names and values in turn. */
type PreparedResponse = { readonly headers: readonly string[]; readonly body: Uint8Array | '' };

type SentSegment = Pick<PlainRequest, 'url' | 'address'> & {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly asset: PlayedAsset;
  /** Undefined: a public asset, or a private one by cookie. */
  readonly token: string | undefined;
  /** Undefined: a trusted web server in front sends the bytes. */
  readonly key?: ObjectKey;
};

export type PreparedSegments = {
  readonly keep: (segment: SentSegment) => void;
  readonly find: (request: PlainRequest) => PreparedResponse | undefined;
};

type KeptSegment = {
  readonly asset: PlayedAsset;
  readonly headers: readonly string[];
  /** Milliseconds since 1970. */
  readonly validUntil: number;
  readonly key: ObjectKey | undefined;
  /** The web server that the response is for; undefined: it is for every client. */
  readonly proxy: string | undefined;
};

/** About 2 KB each. */
const MAX_KEPT = 2000;

export function prepareSegments({ isCurrentAsset, findHotObject, urlSecrets, now }: Needs): PreparedSegments {
  /** By URL. */
  const kept = new Map<string, KeptSegment>();
  const bytesOf = (key: ObjectKey) => findHotObject(key)?.bytes;

  return {
    find: (request) => {
      const segment = kept.get(request.url ?? '');
      if (!segment || !isCurrentAsset(segment.asset) || now().getTime() >= segment.validUntil)
        return undefined;
      const { key, proxy, headers } = segment;
      // The proxy was trusted when the response was kept. Others must not see the path.
      if (key === undefined)
        return request.isForwarded && request.address === proxy ? { headers, body: '' } : undefined;
      const body = bytesOf(key);
      return body && { headers, body };
    },
    keep: ({ url, address, status, headers, asset, token, key }) => {
      if (url === undefined || url.includes('?') || status !== 200 || isByCookie(asset, token)) return;
      if (key !== undefined && !bytesOf(key)) return;
      const [oldest] = kept.keys();
      if (oldest !== undefined && kept.size >= MAX_KEPT) kept.delete(oldest);
      kept.set(url, {
        asset,
        key,
        headers: toList(key === undefined ? { ...headers, 'content-length': 0 } : headers),
        validUntil: token === undefined ? Infinity : 1000 * (playbackTokenExpiry(urlSecrets, token) ?? 0),
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
