// The cookie that carries a playback token to the fixed paths of one asset (contract B5).
import { type CookieKind, formatCookie, readCookie } from '../cookie.ts';

const PLAYBACK: CookieKind = { name: 'mediary_playback', token: /^[\w-]{1,500}$/, sameSite: 'Lax' };

type Visible = { readonly visibility: 'public' | 'private' };

/** Whether an allowed request got its access from the cookie. `token`: that of its path. */
export const isByCookie = ({ visibility }: Visible, token: string | undefined): boolean =>
  visibility === 'private' && token === undefined;

export const readPlaybackCookie = (header: string | undefined): string | undefined =>
  readCookie(PLAYBACK, header);

/** `url`: of the folder that contains the playback paths of the asset. */
export const formatPlaybackCookie = (cookie: Parameters<typeof formatCookie>[1]): string =>
  formatCookie(PLAYBACK, cookie);
