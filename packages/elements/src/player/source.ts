// Finds what the player plays: URLs of its attributes, of the playback paths, or of the API.
import { PlayerError } from './player-error.ts';
import { isAccessToken, readTokenExpiry } from './token.ts';

export type PlayerSource = {
  readonly hls: string;
  readonly poster: string | undefined;
  readonly storyboard: string | undefined;
  /** WebVTT. */
  readonly chapters: string | undefined;
  /** ThumbHash in base64. */
  readonly placeholder: string | undefined;
  readonly title: string | undefined;
  readonly aspectRatio: number | undefined;
  /** In milliseconds since 1970; undefined: never, or unknown. */
  readonly expiresAt: number | undefined;
};

export type SourceRequest = {
  readonly asset: string | undefined;
  readonly baseUrl: string | undefined;
  readonly src: string | undefined;
  readonly poster: string | undefined;
  readonly storyboard: string | undefined;
  /** WebVTT. */
  readonly chapters: string | undefined;
  readonly placeholder: string | undefined;
  readonly access: 'token' | 'cookie';
  readonly token: string | undefined;
  readonly signal: AbortSignal;
  /** Called when nothing plays yet, before the player waits until something does. */
  readonly onWaiting: () => void;
};

/** Attributes take precedence over what the service says. */
export async function findSource(request: SourceRequest): Promise<PlayerSource> {
  const { poster, storyboard, chapters, placeholder } = request;
  const found = await findUrls(request);
  return {
    ...found,
    poster: poster ?? found.poster,
    storyboard: storyboard ?? found.storyboard,
    chapters: chapters ?? found.chapters,
    placeholder: placeholder ?? found.placeholder,
  };
}

const NOTHING = {
  poster: undefined,
  storyboard: undefined,
  chapters: undefined,
  placeholder: undefined,
  title: undefined,
  aspectRatio: undefined,
  expiresAt: undefined,
};

async function findUrls(request: SourceRequest): Promise<PlayerSource> {
  const { src, asset, token } = request;
  if (src !== undefined) return { ...NOTHING, hls: toHttpUrl(src, document.baseURI).href };
  if (asset === undefined || asset === '') throw new PlayerError('NO_SOURCE');
  // Without an attribute, the page is on the origin of the service.
  const base = toHttpUrl(request.baseUrl ?? location.origin, document.baseURI).href;
  const root = base.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  if (token !== undefined && isAccessToken(token)) return findByApi({ baseUrl: root, token }, request);
  const ticket = token === undefined ? '' : `~${encodeURIComponent(token)}/`;
  const folder = `${root}/api/v1/playback/${encodeURIComponent(asset)}/${ticket}`;
  return {
    ...NOTHING,
    hls: `${folder}hls.m3u8`,
    poster: `${folder}thumb.jpg`,
    storyboard: `${folder}storyboard.vtt`,
    chapters: `${folder}chapters.vtt`,
    expiresAt: token === undefined ? undefined : readTokenExpiry(token),
  };
}

const MAX_RETRIES = 2;

function toHttpUrl(text: string, base: string): URL {
  const url = URL.parse(text, base);
  if (!url || !/^https?:$/.test(url.protocol)) throw new PlayerError('INVALID_SOURCE');
  return url;
}

type Caller = { readonly baseUrl: string; readonly token: string };

async function findByApi(caller: Caller, request: SourceRequest): Promise<PlayerSource> {
  const { asset: id = '', signal, access, onWaiting } = request;
  // Most viewers have no access token, so the SDK is a chunk of its own.
  const { createMediary } = await import('@mediary/client').catch((error: unknown) => {
    throw new PlayerError('PLAYER_NOT_LOADED', error);
  });
  const mediary = createMediary({ ...caller, maxRetries: MAX_RETRIES });
  const getPlayback = () => mediary.media.playback(id, { signal, access });
  const [asset, first] = await Promise.all([mediary.media.get(id, { signal }), getPlayback()]);
  if (first.kind === 'image') throw new PlayerError('NOT_A_VIDEO');
  if (first.hls === null) {
    onWaiting();
    await mediary.media.waitUntilReady(id, { until: 'playable', signal });
  }
  const playback = first.hls === null ? await getPlayback() : first;
  if (playback.hls === null) throw new PlayerError('NOT_FOUND');
  const { width, height } = asset;
  return {
    hls: playback.hls,
    poster: playback.thumbnail ?? undefined,
    storyboard: playback.storyboard ?? undefined,
    chapters: playback.chapters ?? undefined,
    placeholder: asset.placeholder ?? undefined,
    title: asset.title ?? undefined,
    aspectRatio: width && height ? width / height : undefined,
    expiresAt: playback.expires_at === null ? undefined : Date.parse(playback.expires_at),
  };
}
