// What plays, for whom and where: addresses for callers, files for players (contract B5).
import type { Playback as PlaybackView } from '@mediary/contract/schemas/playback';
import type { Asset, PlayedAsset } from '../assets/asset.ts';
import { toPlaybackUrls, toPlaybackBase } from '../assets/asset-view.ts';
import type { PlayUrls } from '../assets/playback-manifest.ts';
import { playbackNotFound } from '../assets/playback-not-found.ts';
import type { Secret } from '../auth/secret.ts';
import { ticketReason } from '../auth/asset-ticket.ts';
import { imageSourceOf, imageVersion } from '../images/image-source.ts';
import { unauthorized } from '../platform/errors.ts';
import type { SignedUrls } from '../providers/provider.ts';
import { isPlaybackToken, issuePlaybackToken, tokenExpiry } from './playback-token.ts';

type PlaybackNeeds = {
  readonly findPlayedAsset: (id: string) => Promise<PlayedAsset | undefined>;
  /** A hosted video's addresses, signed by its provider's scheme; undefined where they need no signature. */
  readonly signed: (asset: PlayedAsset, expires: number) => SignedUrls | undefined;
  readonly urlSecrets: readonly Secret[];
  readonly tokenTtlSeconds: number;
  readonly publicBaseUrl: () => string;
  readonly now: () => Date;
};

/** URLs that a player can use as they are; null for what is not there. */
export function getPlayback(needs: PlaybackNeeds, asset: Asset): PlaybackView {
  const hosted = findHostedUrls(needs, asset);
  const { kind, stream_status } = asset;
  if (hosted) return { kind, stream_status, mp4: null, storyboard: null, ...hosted };
  const isSigned =
    asset.visibility === 'private' && asset.playback !== null && asset.playback.kind !== 'urls';
  const expires = isSigned
    ? tokenExpiry(asset, { now: needs.now(), ttlSeconds: needs.tokenTtlSeconds })
    : null;
  const base = toPlaybackBase(needs.publicBaseUrl(), asset.id);
  const token = expires === null ? '' : `/~${issuePlaybackToken(needs.urlSecrets, asset, expires)}`;
  const urls = toPlaybackUrls(asset.playback, `${base}${token}`) ?? {
    hls: null,
    dash: null,
    thumbnail: null,
  };
  return {
    kind,
    stream_status,
    ...urls,
    mp4: null,
    storyboard: null,
    expires_at: expires === null ? null : new Date(expires * 1000).toISOString(),
    ...(imageSourceOf(asset) && { image: `${base}${token}/image?v=${imageVersion(asset)}` }),
  };
}

/** The addresses to which a player of a hosted video is sent; undefined where the stored ones do. */
export function findHostedUrls(
  needs: PlaybackNeeds,
  asset: PlayedAsset,
): (PlayUrls & { readonly expires_at: string }) | undefined {
  const signed = needs.signed(
    asset,
    tokenExpiry(asset, { now: needs.now(), ttlSeconds: needs.tokenTtlSeconds }),
  );
  if (!signed) return undefined;
  const { expires, ...urls } = signed;
  return { ...urls, expires_at: new Date(expires * 1000).toISOString() };
}

/** The third door to an asset: whoever may see it may play it. Private without a token: NOT_FOUND; with a bad one: UNAUTHORIZED. */
export async function findPlayableAsset(
  { findPlayedAsset, urlSecrets, now }: PlaybackNeeds,
  id: string,
  token: string | undefined,
): Promise<PlayedAsset> {
  const asset = await findPlayedAsset(id);
  if (!asset || asset.deleted_at) throw playbackNotFound();
  if (asset.visibility === 'public') return asset;
  if (token === undefined) throw playbackNotFound();
  if (!isPlaybackToken(urlSecrets, asset, { token, now: now() }))
    throw unauthorized('The playback token is invalid or has expired', {
      reason: ticketReason(urlSecrets, { purpose: 'playback', token, now: now().getTime() / 1000 }),
    });
  return asset;
}
