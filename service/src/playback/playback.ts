// Playback URLs for callers, and access of players to assets (contract B5).
import type { Playback as PlaybackView } from '@mediary/contract/schemas/playback';
import type { Asset, PlayedAsset } from '../assets/asset.ts';
import type { findPlayedAsset } from '../assets/asset-lookup.ts';
import { toPlaybackUrls, toPlaybackBase } from '../assets/asset-view.ts';
import type { PlayUrls } from '../assets/playback-manifest.ts';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import { captionUrl } from '../captions/manifest-captions.ts';
import type { Secret } from '../auth/secret.ts';
import { ticketReason } from '../auth/asset-ticket.ts';
import { imageSourceOf, imageVersion } from '../images/image-source.ts';
import type { Bound } from '../platform/bind.ts';
import { unauthorized } from '../platform/errors.ts';
import type { findHostedUrls } from '../providers/hosted-playback.ts';
import { isPlaybackToken, issuePlaybackToken, tokenExpiry } from './playback-token.ts';

type PlaybackNeeds = {
  readonly findPlayedAsset: Bound<typeof findPlayedAsset>;
  readonly findHostedUrls: Bound<typeof findHostedUrls>;
  readonly urlSecrets: readonly Secret[];
  readonly tokenTtlSeconds: number;
  readonly playbackBaseUrl: () => string;
  readonly now: () => Date;
};

/** URLs that a player can use unchanged; null for missing ones. */
export function getPlayback(needs: PlaybackNeeds, asset: Asset): PlaybackView {
  const hosted = resolveHostedUrls(needs, asset);
  const { kind, stream_status } = asset;
  if (hosted) return { kind, stream_status, mp4: null, storyboard: null, captions: [], ...hosted };
  const isSigned =
    asset.visibility === 'private' && asset.playback !== null && asset.playback.kind !== 'urls';
  const expires = isSigned
    ? tokenExpiry(asset, { now: needs.now(), ttlSeconds: needs.tokenTtlSeconds })
    : null;
  const base = toPlaybackBase(needs.playbackBaseUrl(), asset.id);
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
    captions: toPlayableCaptions(asset, `${base}${token}`),
    expires_at: toIso(expires),
    ...(imageSourceOf(asset) && { image: `${base}${token}/image?v=${imageVersion(asset)}` }),
  };
}

/** Of videos whose manifests we serve. */
const toPlayableCaptions = ({ playback, captions }: Asset, base: string): PlaybackView['captions'] =>
  playback?.kind === 'own'
    ? (captions ?? []).map((caption) => ({
        language: caption.language,
        label: caption.label,
        kind: caption.kind,
        default: caption.isDefault,
        url: `${base}/${captionUrl(caption)}`,
      }))
    : [];

/** The URLs to which players of a hosted video are redirected; undefined for other assets. */
export function resolveHostedUrls(
  needs: PlaybackNeeds,
  asset: PlayedAsset,
): (PlayUrls & { readonly expires_at: string | null }) | undefined {
  const found = needs.findHostedUrls(
    asset,
    tokenExpiry(asset, { now: needs.now(), ttlSeconds: needs.tokenTtlSeconds }),
  );
  if (!found) return undefined;
  const { expires, ...urls } = found;
  return { ...urls, expires_at: toIso(expires) };
}

const toIso = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1000).toISOString();

/**
 * The access of players to an asset. A private asset is NOT_FOUND without a token, and UNAUTHORIZED with an
 * invalid one.
 */
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
