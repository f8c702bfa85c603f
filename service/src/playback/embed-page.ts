// Renders the page with a player for other sites, its content security policy and its scripts (contract B5).
import { createHash } from 'node:crypto';
import { escapeHtml } from '../assets/markup.ts';

export type FrameSize = { readonly width: number; readonly height: number };

export type EmbedPage = {
  readonly title: string;
  /** URLs relative to the page, or of the CDN. */
  readonly hls: string;
  readonly poster: string | null;
  /** Relative path to the folder of the scripts. */
  readonly scriptFolder: string;
  readonly scriptVersions: { readonly player: string; readonly hls: string };
  /** What link previews show; undefined: nothing, as for private videos. */
  readonly preview: LinkPreview | undefined;
};

export type LinkPreview = {
  readonly url: string;
  readonly thumbnail: string | null;
  readonly oembed: string;
  readonly size: FrameSize;
};

const STYLE =
  'html,body{margin:0;height:100%;background:#000}' +
  'video{display:block;width:100%;height:100%;object-fit:contain}';

export function renderEmbedPage({
  title,
  hls,
  poster,
  scriptFolder,
  scriptVersions,
  preview,
}: EmbedPage): string {
  const script = `${scriptFolder}player.js?v=${scriptVersions.player}`;
  const attributes = {
    'data-hls': hls,
    'data-hls-script': `${scriptFolder}hls.js?v=${scriptVersions.hls}`,
    ...(poster !== null && { poster }),
  };
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title>`,
    ...(preview ? renderPreview(title, preview) : []),
    `<style>${STYLE}</style>`,
    `<video controls playsinline preload="none"${renderAttributes(attributes)}></video>`,
    `<script${renderAttributes({ src: script })}></script>`,
    '</html>',
    '',
  ].join('\n');
}

const renderAttributes = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeHtml(value)}"`)
    .join('');

function renderPreview(title: string, { url, thumbnail, oembed, size }: LinkPreview): string[] {
  const width = String(size.width);
  const height = String(size.height);
  const openGraph = {
    'og:type': 'video.other',
    'og:title': title,
    'og:url': url,
    'og:video': url,
    ...(url.startsWith('https:') && { 'og:video:secure_url': url }),
    'og:video:type': 'text/html',
    'og:video:width': width,
    'og:video:height': height,
    ...(thumbnail !== null && { 'og:image': thumbnail }),
  };
  const twitter = {
    'twitter:card': 'player',
    'twitter:title': title,
    'twitter:player': url,
    'twitter:player:width': width,
    'twitter:player:height': height,
    ...(thumbnail !== null && { 'twitter:image': thumbnail }),
  };
  return [
    ...Object.entries(openGraph).map(
      ([property, content]) => `<meta${renderAttributes({ property, content })}>`,
    ),
    ...Object.entries(twitter).map(([name, content]) => `<meta${renderAttributes({ name, content })}>`),
    `<link${renderAttributes({ rel: 'alternate', type: 'application/json+oembed', href: oembed, title })}>`,
  ];
}

type PagePolicy = {
  /** Origins of the CDN, the store or the provider, beside the service itself. */
  readonly mediaSources: readonly string[];
  readonly frameAncestors: string;
};

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** `blob:` is for hls.js, which plays from memory and parses in a worker. */
export function renderPagePolicy({ mediaSources, frameAncestors }: PagePolicy): string {
  const media = ["'self'", ...new Set(mediaSources)].join(' ');
  return [
    // Of a repeated directive, browsers apply the first.
    `frame-ancestors ${frameAncestors}`,
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `media-src ${media} blob:`,
    `connect-src ${media}`,
    `img-src ${media}`,
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/**
 * Safari plays HLS best by itself. Other browsers with `MediaSource` get hls.js, which also plays growing
 * videos.
 */
export const PLAYER_SCRIPT = `'use strict';
(() => {
  const video = document.querySelector('video');
  const { hls: source, hlsScript } = video.dataset;
  const isNative = video.canPlayType('application/vnd.apple.mpegurl') !== '';
  const isSafari = 'WebKitPlaybackTargetAvailabilityEvent' in window;
  if (isNative && (isSafari || !('MediaSource' in window))) {
    video.src = source;
    return;
  }
  const script = document.createElement('script');
  script.src = hlsScript;
  script.onload = () => {
    const hls = new Hls({ autoStartLoad: false });
    let isLoading = false;
    let hasRecovered = false;
    const load = () => {
      if (!isLoading) hls.startLoad();
      isLoading = true;
    };
    hls.on(Hls.Events.ERROR, (_, { fatal, type }) => {
      if (!fatal) return;
      if (type === Hls.ErrorTypes.MEDIA_ERROR && !hasRecovered) {
        hasRecovered = true;
        hls.recoverMediaError();
        return;
      }
      isLoading = false;
      video.pause();
    });
    video.addEventListener('play', load);
    hls.loadSource(source);
    hls.attachMedia(video);
    if (!video.paused) load();
  };
  document.head.append(script);
})();
`;
