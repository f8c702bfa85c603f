// Builds the embed page of a video, and its oEmbed description (contract B5).
import type { Asset, PlaybackAsset } from '../../assets/asset.ts';
import { isExpired, limitSeconds } from '../../assets/expiry.ts';
import { toExtraUrls } from '../../assets/video-extras.ts';
import { toPlaybackBase, toPlaybackUrls } from '../../assets/asset-view.ts';
import { type PlayUrls, playbackNotFound } from '../../assets/playback-manifest.ts';
import { isByCookie } from '../../auth/tickets/playback-cookie.ts';
import { notFound, ServiceError } from '../../platform/http/errors.ts';
import { getElementFiles } from '../../platform/http/pages/element-files.ts';
import { openPackageScript, toPageScript, versionOf } from '../../platform/http/pages/page-script.ts';
import { PAGE_ICON } from '../../platform/http/pages/page-icon.ts';
import { escapeHtml } from '../../assets/markup.ts';
import { findDirectOrigin } from '../../storage/direct-origin.ts';
import { chaptersUrl } from '../chapter-files.ts';
import type { PlaybackContext } from '../context.ts';
import {
  type EmbedPage,
  type LinkPreview,
  PLAYER_SCRIPT,
  renderEmbedPage,
  renderPagePolicy,
  type FrameSize,
} from './embed-page.ts';
import { resolveHostedUrls } from '../playback.ts';

const PLAYER = toPageScript(PLAYER_SCRIPT);
const readHlsScript = openPackageScript('hls.js/dist/hls.min.js');

export const findScript = async (name: 'player' | 'hls') => (name === 'player' ? PLAYER : readHlsScript());

type RenderedPage = { readonly html: string; readonly policy: string; readonly etag: string };

/** `token`: of the path of the page, where its relative URLs begin. */
export async function renderEmbed(
  ctx: PlaybackContext,
  { id }: Pick<PlaybackAsset, 'id'>,
  token: string | undefined,
): Promise<RenderedPage> {
  const asset = await ctx.lifecycle.findAssetById(id);
  const urls = asset && findPlayUrls(ctx, asset, '.');
  if (!asset || !urls?.hls) throw playbackNotFound();
  const base = mediaBaseOf(ctx, asset, token);
  const html = renderEmbedPage({
    title: titleOf(asset),
    hls: `${base}/hls.m3u8`,
    poster: urls.thumbnail && `${base}/thumb.jpg`,
    storyboard: findStoryboard(asset, base),
    chapters: chaptersUrl(asset, base),
    placeholder: asset.placeholder,
    icon: PAGE_ICON,
    scriptFolder: token === undefined ? '../' : '../../',
    scriptVersions: await readScriptVersions(),
    preview: asset.visibility === 'public' ? toPreview(ctx, asset, urls) : undefined,
  });
  const policy = renderPagePolicy({
    mediaSources: await findMediaSources(ctx, asset, urls),
    frameAncestors: ctx.settings.delivery.embedFrameAncestors,
    allowedSites: asset.access?.referrers,
  });
  return { html, policy, etag: `"${versionOf(`${policy}\n${html}`)}"` };
}

const titleOf = ({ title, kind }: Asset): string => title ?? (kind === 'audio' ? 'Audio' : 'Video');

const findStoryboard = ({ playback }: Asset, base: string): string | null =>
  playback?.kind === 'own' ? toExtraUrls(playback.extras ?? [], base).storyboard : null;

async function readScriptVersions(): Promise<EmbedPage['scriptVersions']> {
  const [hls, { version, files }] = await Promise.all([readHlsScript(), getElementFiles()]);
  return {
    player: PLAYER.version,
    hls: hls.version,
    elements: files.has('player.js') ? version : undefined,
  };
}

/** Our own files below `base`; null for images. */
const findPlayUrls = (ctx: PlaybackContext, asset: Asset, base: string): PlayUrls | null =>
  resolveHostedUrls(ctx, asset) ?? toPlaybackUrls(asset.playback, base);

/** A cookie reaches the service only, so such a page stays with relative URLs. */
function mediaBaseOf({ settings }: PlaybackContext, asset: Asset, token: string | undefined): string {
  const { cdnBaseUrl } = settings.delivery;
  if (cdnBaseUrl === undefined || asset.playback?.kind !== 'own' || isByCookie(asset, token)) return '.';
  const folder = token === undefined ? '' : `/~${encodeURIComponent(token)}`;
  return `${toPlaybackBase(cdnBaseUrl, asset.id)}${folder}`;
}

/** Manifests of others may name segments on any host. */
async function findMediaSources(ctx: PlaybackContext, asset: Asset, urls: PlayUrls): Promise<string[]> {
  const { playback } = asset;
  if (playback?.kind !== 'own')
    return ['https:', ...[urls.hls, urls.thumbnail].flatMap((url) => (url ? [new URL(url).origin] : []))];
  const { cdnBaseUrl, segments } = ctx.settings.delivery;
  const store = segments === 'redirect' ? await findDirectOrigin(ctx.store) : undefined;
  return [cdnBaseUrl && new URL(cdnBaseUrl).origin, store].filter((origin) => origin !== undefined);
}

const EMBED = /^\/api\/v1\/playback\/([^/?#]+)\/embed(?:[?#]|$)/;
const DEFAULT_SIZE: FrameSize = { width: 1280, height: 720 };
const MAX_THUMBNAIL_WIDTH = 1280;
const CACHE_AGE_S = 300;

type OembedRequest = {
  readonly url: string;
  readonly maxwidth?: number;
  readonly maxheight?: number;
  readonly format?: string;
};

export async function describeOembed(ctx: PlaybackContext, request: OembedRequest) {
  const { url, maxwidth, maxheight, format = 'json' } = request;
  if (format !== 'json')
    throw new ServiceError('NOT_IMPLEMENTED', 'The format is not supported. Supported: json');
  const asset = await getPublicVideo(ctx, url);
  const { url: page, thumbnail, size } = toPreview(ctx, asset, findPlayUrls(ctx, asset, '.'));
  const fitted = fitInto(size, {
    width: maxwidth ?? DEFAULT_SIZE.width,
    height: maxheight ?? DEFAULT_SIZE.height,
  });
  const image = fitInto(size, { width: MAX_THUMBNAIL_WIDTH, height: Infinity });
  return {
    version: '1.0',
    type: 'video',
    ...(asset.title !== null && { title: asset.title }),
    html: renderFrame(page, titleOf(asset), fitted),
    ...fitted,
    ...(thumbnail !== null && {
      thumbnail_url: thumbnail,
      thumbnail_width: image.width,
      thumbnail_height: image.height,
    }),
    provider_name: 'Mediary',
    provider_url: ctx.settings.publicBaseUrl(),
    cache_age: limitSeconds(CACHE_AGE_S, asset, ctx.now()),
  };
}

async function getPublicVideo(ctx: PlaybackContext, url: string): Promise<Asset> {
  const base = ctx.settings.publicBaseUrl();
  const [, id] = (url.startsWith(`${base}/`) && EMBED.exec(url.slice(base.length))) || [];
  const asset = id === undefined ? undefined : await ctx.lifecycle.findAssetById(id);
  const isPublic = asset && !asset.deleted_at && asset.visibility === 'public';
  if (isPublic && !isExpired(asset, ctx.now()) && findPlayUrls(ctx, asset, '.')?.hls) return asset;
  throw notFound('Not found. url must be the embed URL of a public video of this service.');
}

function toPreview(ctx: PlaybackContext, { id, width, height }: Asset, urls: PlayUrls | null): LinkPreview {
  const base = ctx.settings.publicBaseUrl();
  const url = `${toPlaybackBase(base, id)}/embed`;
  return {
    url,
    thumbnail: urls?.thumbnail ? `${toPlaybackBase(base, id)}/thumb.jpg` : null,
    oembed: `${base}/api/v1/oembed?format=json&url=${encodeURIComponent(url)}`,
    size: width === null || height === null ? DEFAULT_SIZE : { width, height },
  };
}

/** Never enlarges. */
function fitInto({ width, height }: FrameSize, box: FrameSize): FrameSize {
  const scale = Math.min(1, box.width / width, box.height / height);
  return {
    width: Math.max(1, Math.floor(width * scale)),
    height: Math.max(1, Math.floor(height * scale)),
  };
}

const renderFrame = (url: string, title: string, { width, height }: FrameSize): string =>
  `<iframe src="${escapeHtml(url)}" title="${escapeHtml(title)}" width="${width}" height="${height}" ` +
  'allow="autoplay; fullscreen; picture-in-picture" allowfullscreen style="border:0"></iframe>';
