// The cookie of a console session. It names a row of the database and carries no secret of its own.
import { type CookieKind, formatCookie, readCookie } from '../cookie.ts';

const SESSION: CookieKind = { name: 'mediary_session', token: /^[\w-]{43}$/, sameSite: 'Strict' };

/** Pages of other sites cannot send it without a preflight, which is refused to them. */
export const CONSOLE_HEADER = 'x-mediary-console';

type Headers = {
  readonly cookie?: string | undefined;
  readonly [CONSOLE_HEADER]?: string | string[] | undefined;
};

/** Undefined without the cookie, or without the header that proves that the console sent the request. */
export function readSessionToken({ cookie, [CONSOLE_HEADER]: header }: Headers): string | undefined {
  return header === undefined ? undefined : readSessionCookie(cookie);
}

export const readSessionCookie = (cookie: string | undefined): string | undefined =>
  readCookie(SESSION, cookie);

type SessionCookie = { readonly token: string; readonly baseUrl: string; readonly maxAgeSeconds: number };

/** Other sites cannot send it. A `maxAgeSeconds` of 0 deletes it. */
export const formatSessionCookie = ({ token, baseUrl, maxAgeSeconds }: SessionCookie): string =>
  formatCookie(SESSION, { token, url: `${baseUrl}/`, maxAgeSeconds });
