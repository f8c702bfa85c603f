// The cookie that carries a playback token to the fixed paths of one asset (contract B5).

const NAME = 'mediary_playback';
const TOKEN = /^[\w-]{1,500}$/;

/**
 * `Cache-Control` of what the cookie opens: its URL contains no token, so that the next user of the browser
 * must not get it from the cache.
 */
export const CACHED_BY_COOKIE = 'private, no-cache';

type Visible = { readonly visibility: 'public' | 'private' };

/** Whether an allowed request got its access from the cookie. `token`: that of its path. */
export const isByCookie = ({ visibility }: Visible, token: string | undefined): boolean =>
  visibility === 'private' && token === undefined;

/** The token in a `Cookie` header; undefined if there is none. */
export function readPlaybackCookie(header: string | undefined): string | undefined {
  if (!header?.includes(NAME)) return undefined;
  for (const pair of header.split(';')) {
    const [name = '', value = ''] = pair.trim().split('=');
    if (name === NAME && TOKEN.test(value)) return value;
  }
  return undefined;
}

type PlaybackCookie = {
  readonly token: string;
  /** URL of the folder that contains the playback paths of the asset. */
  readonly url: string;
  readonly maxAgeSeconds: number;
};

/** Pages cannot read it, other sites cannot send it, and other paths do not receive it. */
export function formatPlaybackCookie({ token, url, maxAgeSeconds }: PlaybackCookie): string {
  const { protocol, pathname } = new URL(url);
  return [
    `${NAME}=${token}`,
    `Path=${pathname}`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    ...(protocol === 'https:' ? ['Secure'] : []),
    'SameSite=Lax',
  ].join('; ');
}
