// Playback URLs for callers, and access of players to assets (contract B5).
import type { Playback as PlaybackView } from '@mediary/contract/schemas/playback';
import { allowsDownloads } from '../assets/access-rules.ts';
import type { Asset, PlaybackAsset } from '../assets/asset.ts';
import { isExpired } from '../assets/expiry.ts';
import { toOfferedUrls, toPlaybackBase } from '../assets/asset-view.ts';
import type { PlayUrls } from '../assets/playback-manifest.ts';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import { isEncrypted, isNeverEncrypted } from '../assets/segment-encryption.ts';
import { EXTRA_FILES, toExtraUrls, type VideoExtra } from '../assets/video-extras.ts';
import { captionUrl } from '../captions/manifest-captions.ts';
import { WAVEFORM } from '../storage/object-key.ts';
import { ticketReason } from '../auth/tickets/asset-ticket.ts';
import { formatPlaybackCookie, readPlaybackCookie } from '../auth/tickets/playback-cookie.ts';
import { findVariantSource, imageVersion } from '../images/image-source.ts';
import { notFound, unauthorized } from '../platform/http/errors.ts';
import { chaptersUrl } from './chapter-files.ts';
import type { PlaybackContext } from './context.ts';
import { isDownload } from './downloads/download-name.ts';
import { isPlaybackToken, issuePlaybackToken, tokenExpiry } from './playback-token.ts';
import { assertViewerAllowed } from './viewer-access.ts';

/** How players of a private asset are authorized: by the URLs themselves, or by a cookie. */
type Access = 'token' | 'cookie';

/** URLs that a player can use unchanged; null for missing ones. */
export function getPlayback(ctx: PlaybackContext, asset: Asset, access: Access = 'token'): PlaybackView {
  if (isExpired(asset, ctx.now())) throw notFound('The asset has expired');
  const expires = isSigned(asset) ? expiryOf(ctx, asset) : null;
  const token =
    expires === null || access === 'cookie'
      ? ''
      : `/~${issuePlaybackToken(ctx.settings.urlSecrets, asset, expires)}`;
  const hosted = resolveHostedUrls(ctx, asset);
  if (hosted)
    return toView(asset.kind, {
      stream_status: asset.stream_status,
      ...toExtraUrls([], ''),
      chapters: null,
      captions: [],
      encryption: null,
      ...hosted,
      expires_at: hosted.expires_at ?? toIso(expires),
      embed: embedUrl(ctx, asset, { hls: hosted.hls, token }),
    });
  // The cookie belongs to the service and would not reach a CDN.
  const origin = access === 'cookie' ? undefined : ctx.settings.delivery.cdnBaseUrl;
  const base = `${toPlaybackBase(origin ?? ctx.settings.publicBaseUrl(), asset.id)}${token}`;
  return toView(asset.kind, { ...listUrls(ctx, asset, { base, token }), expires_at: toIso(expires) });
}

/** `base`: where players find the files of the asset, with the token. */
function listUrls(
  ctx: PlaybackContext,
  asset: Asset,
  { base, token }: { readonly base: string; readonly token: string },
): Omit<ViewMembers, 'expires_at'> {
  const { delivery } = ctx.settings;
  const own = asset.playback?.kind === 'own' ? asset.playback : undefined;
  const urls = toOfferedUrls(delivery, asset, base) ?? { hls: null, dash: null, thumbnail: null };
  return {
    stream_status: asset.stream_status,
    ...urls,
    encryption: isEncrypted(delivery.segmentEncryption, asset) ? 'aes-128' : null,
    ...toExtraUrls(offeredExtras(ctx, asset), base),
    chapters: chaptersUrl(asset, base),
    captions: toPlayableCaptions(asset, base),
    image: findVariantSource(asset) ? `${base}/image?v=${imageVersion(asset)}` : null,
    extras_pending: own !== undefined && !own.growing && own.extras === undefined,
    frame: own && !own.growing ? `${base}/frame.jpg` : null,
    waveform: own ? `${base}/${WAVEFORM}` : null,
    embed: embedUrl(ctx, asset, { hls: urls.hls, token }),
  };
}

/** The page plays HLS, also of other hosts. */
const embedUrl = (
  { settings }: PlaybackContext,
  { id }: Asset,
  { hls, token }: { readonly hls: string | null; readonly token: string },
): string | null => (hls === null ? null : `${toPlaybackBase(settings.publicBaseUrl(), id)}${token}/embed`);

type Members<K extends PlaybackView['kind']> = Omit<Extract<PlaybackView, { kind: K }>, 'kind'>;
type OptionalMembers = Pick<Members<'video'>, 'image' | 'frame' | 'embed' | 'extras_pending'> &
  Pick<Members<'audio'>, 'waveform'>;

type ViewMembers = Omit<Members<'image'>, 'image'> & Partial<OptionalMembers>;

/** Every member of the kind. */
function toView(kind: Asset['kind'], members: ViewMembers): PlaybackView {
  const { image = null, frame = null, embed = null, waveform = null, ...others } = members;
  const { extras_pending = false, ...shared } = others;
  switch (kind) {
    case 'video':
      return { kind, ...shared, extras_pending, image, frame, embed };
    case 'audio':
      return { kind, ...shared, extras_pending, image, waveform, embed };
    case 'image':
      return { kind, ...shared, image };
  }
}

/** A file with all of the sound or picture would make the encryption of the segments pointless. */
function offeredExtras({ settings }: PlaybackContext, asset: Asset): readonly VideoExtra[] {
  const extras = (asset.playback?.kind === 'own' && asset.playback.extras) || [];
  const isOffered = isEncrypted(settings.delivery.segmentEncryption, asset)
    ? isNeverEncrypted
    : (file: string) => allowsDownloads(asset) || !isDownload(file);
  return extras.filter((extra) => isOffered(EXTRA_FILES[extra]));
}

/** Of reported URLs, the service has the embed page alone. */
const isSigned = ({ visibility, playback }: Asset): boolean =>
  visibility === 'private' && playback !== null && (playback.kind !== 'urls' || playback.hls !== null);

const expiryOf = ({ now, settings }: PlaybackContext, asset: PlaybackAsset): number =>
  tokenExpiry(asset, { now: now(), ttlSeconds: settings.playbackTokenTtlSeconds });

/** `Set-Cookie` for the fixed paths of a private asset; undefined if they need none. */
export function createPlaybackCookie(ctx: PlaybackContext, asset: Asset): string | undefined {
  if (!isSigned(asset)) return undefined;
  const expires = expiryOf(ctx, asset);
  return formatPlaybackCookie({
    token: issuePlaybackToken(ctx.settings.urlSecrets, asset, expires),
    url: `${toPlaybackBase(ctx.settings.publicBaseUrl(), asset.id)}/`,
    maxAgeSeconds: expires - Math.floor(ctx.now().getTime() / 1000),
  });
}

/** Only videos whose manifests the service serves have captions. */
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
  ctx: PlaybackContext,
  asset: PlaybackAsset,
): (PlayUrls & { readonly expires_at: string | null }) | undefined {
  const found = ctx.providers.findHostedUrls(asset, expiryOf(ctx, asset));
  if (!found) return undefined;
  const { expires, ...urls } = found;
  return { ...urls, expires_at: toIso(expires) };
}

const toIso = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1000).toISOString();

/** A request of a viewer. `token`: that of its path or query; else its cookie counts. */
type ViewerRequest = Parameters<typeof assertViewerAllowed>[2] & { readonly token: string | undefined };

/**
 * The access of players to an asset. A private asset is NOT_FOUND without a token, and UNAUTHORIZED with an
 * invalid one; access rules may make both FORBIDDEN.
 */
export async function findPlayableAsset(
  ctx: PlaybackContext,
  id: string,
  viewer: ViewerRequest,
): Promise<PlaybackAsset> {
  const asset = await ctx.lifecycle.findPlaybackAsset(id);
  if (!asset || asset.deleted_at || isExpired(asset, ctx.now())) throw playbackNotFound();
  if (asset.visibility === 'private') assertToken(ctx, asset, viewer);
  if (asset.access) assertViewerAllowed(ctx.settings, asset, viewer);
  return asset;
}

function assertToken(
  { settings: { urlSecrets }, now }: PlaybackContext,
  asset: PlaybackAsset,
  { token: given, request }: ViewerRequest,
): void {
  const token = given ?? readPlaybackCookie(request.headers.cookie);
  if (token === undefined) throw playbackNotFound();
  if (!isPlaybackToken(urlSecrets, asset, { token, now: now() }))
    throw unauthorized('The playback token is invalid or has expired', {
      reason: ticketReason(urlSecrets, { purpose: 'playback', token, now: now().getTime() / 1000 }),
    });
}
