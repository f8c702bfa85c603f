// Renders the page with a player for other sites, its content security policy and its scripts (contract B5).
import { createHash } from 'node:crypto';
import { escapeHtml } from '../../assets/markup.ts';
import { toFrameAncestors } from '../viewer-access.ts';

export type FrameSize = { readonly width: number; readonly height: number };

export type EmbedPage = {
  readonly title: string;
  /** The element of the icon. */
  readonly icon: string;
  /** URLs relative to the page, or of the CDN. */
  readonly hls: string;
  readonly poster: string | null;
  /** WebVTT of the pictures over the seek bar. */
  readonly storyboard: string | null;
  /** WebVTT of the names on the seek bar. */
  readonly chapters: string | null;
  /** ThumbHash in base64. */
  readonly placeholder: string | null;
  /** Relative path to the folder of the scripts. */
  readonly scriptFolder: string;
  readonly scriptVersions: {
    readonly player: string;
    readonly hls: string;
    /** Of the web components; undefined: they are not built, and the page has a plain `<video>`. */
    readonly elements: string | undefined;
  };
  /** What link previews show; undefined: nothing, as for private videos. */
  readonly preview: LinkPreview | undefined;
};

export type LinkPreview = {
  readonly url: string;
  readonly thumbnail: string | null;
  readonly oembed: string;
  readonly size: FrameSize;
};

/** Of both pages: the button covers the picture, and shows a circle with a triangle in its middle. */
const STYLE = [
  'html,body{margin:0;height:100%;background:#000}',
  'mediary-player{height:100%;--mediary-aspect-ratio:auto}',
  'video{display:block;width:100%;height:100%;object-fit:contain}',
  'button{position:fixed;inset:0;width:100%;height:100%;padding:0;border:0;background:none;cursor:pointer}',
  'button[hidden]{display:none}',
  'button:before,button:after{content:"";position:absolute;top:50%;left:50%;transform:translate(-50%,-50%)}',
  'button:before{width:72px;height:72px;border-radius:50%;background:rgba(0,0,0,.65)}',
  'button:hover:before,button:focus-visible:before{background:#000;outline:2px solid #fff}',
  'button:focus{outline:none}',
  'button:after{margin-left:4px;border-style:solid;border-width:16px 0 16px 26px;',
  'border-color:transparent transparent transparent #fff}',
].join('');

export function renderEmbedPage(page: EmbedPage): string {
  const { title, icon, preview, scriptVersions } = page;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title>`,
    ...(preview ? renderPreview(title, preview) : []),
    icon,
    `<style>${STYLE}</style>`,
    ...(scriptVersions.elements === undefined
      ? renderPlainPlayer(page)
      : renderPlayer(page, scriptVersions.elements)),
    '</html>',
    '',
  ].join('\n');
}

function renderPlayer(
  { title, hls, poster, storyboard, chapters, placeholder, scriptFolder }: EmbedPage,
  version: string,
): string[] {
  const attributes = {
    label: title,
    src: hls,
    ...(poster !== null && { poster }),
    ...(storyboard !== null && { storyboard }),
    ...(chapters !== null && { chapters }),
    ...(placeholder !== null && { placeholder }),
  };
  return [
    `<mediary-player${renderAttributes(attributes)}></mediary-player>`,
    `<script type="module" src="${scriptFolder}elements/${version}/player.js"></script>`,
  ];
}

function renderPlainPlayer({ hls, poster, scriptFolder, scriptVersions }: EmbedPage): string[] {
  const script = `${scriptFolder}player.js?v=${scriptVersions.player}`;
  const attributes = {
    'data-hls': hls,
    'data-hls-script': `${scriptFolder}hls.js?v=${scriptVersions.hls}`,
    ...(poster !== null && { poster }),
  };
  return [
    `<video playsinline preload="none"${renderAttributes(attributes)}></video>`,
    '<button type="button" aria-label="Play"></button>',
    `<script${renderAttributes({ src: script })}></script>`,
  ];
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
  /** Of the access rules; undefined: all. */
  readonly allowedSites: readonly string[] | undefined;
};

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * `blob:` is for hls.js, which plays from memory and parses in a worker; `data:` for the empty text tracks to
 * which it adds captions.
 */
export function renderPagePolicy({ mediaSources, frameAncestors, allowedSites }: PagePolicy): string {
  const media = ["'self'", ...new Set(mediaSources)].join(' ');
  const policy = [
    // Of a repeated directive, browsers apply the first.
    `frame-ancestors ${frameAncestors}`,
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `media-src ${media} blob: data:`,
    `connect-src ${media}`,
    `img-src ${media} data:`,
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // Of two policies, browsers apply both.
  return allowedSites ? `${policy}, frame-ancestors ${toFrameAncestors(allowedSites)}` : policy;
}

/**
 * Safari plays HLS best by itself. Other browsers with `MediaSource` get hls.js, which also plays growing
 * videos. It is attached at the first play, because Chromium shows a spinner over a source without data.
 */
export const PLAYER_SCRIPT = `'use strict';
(() => {
  const video = document.querySelector('video');
  const button = document.querySelector('button');
  const { hls: source, hlsScript } = video.dataset;
  const showState = () => {
    button.hidden = !video.paused;
    video.controls = button.hidden;
  };
  // Rejected when the browser forbids playing, or a source is attached meanwhile.
  const play = () => video.play().catch(showState);
  button.addEventListener('click', () => {
    play();
    video.focus();
  });
  video.addEventListener('play', showState);
  const isNative = video.canPlayType('application/vnd.apple.mpegurl') !== '';
  const isSafari = 'WebKitPlaybackTargetAvailabilityEvent' in window;
  if (isNative && (isSafari || !('MediaSource' in window))) {
    video.src = source;
    return;
  }
  const attach = () => {
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
    let known = 0;
    hls.on(Hls.Events.MANIFEST_PARSED, (_, { levels }) => {
      known = levels.length;
    });
    // The encode has ended: better renditions replace what is buffered.
    hls.on(Hls.Events.LEVELS_UPDATED, (_, { levels }) => {
      if (levels.length > known) hls.nextLevel = -1;
      known = levels.length;
    });
    video.addEventListener('play', load);
    hls.loadSource(source);
    hls.attachMedia(video);
    load();
    if (video.paused) play();
  };
  const loadPlayer = () => {
    const script = document.createElement('script');
    script.src = hlsScript;
    script.onload = attach;
    script.onerror = () => {
      video.pause();
      showState();
      waitForPlay();
    };
    document.head.append(script);
  };
  const waitForPlay = () => video.addEventListener('play', loadPlayer, { once: true });
  waitForPlay();
})();
`;
