// The cookie of a console session. It names a row of the database and carries no secret of its own.

const NAME = 'mediary_session';
const TOKEN = /^[\w-]{43}$/;

/** Pages of other sites cannot send it without a preflight, which is refused to them. */
export const CONSOLE_HEADER = 'x-mediary-console';

type Headers = {
  readonly cookie?: string | undefined;
  readonly [CONSOLE_HEADER]?: string | string[] | undefined;
};

/** Undefined without the cookie, or without the header that proves that the console sent the request. */
export function readSessionToken({ cookie, [CONSOLE_HEADER]: header }: Headers): string | undefined {
  if (header === undefined || !cookie?.includes(NAME)) return undefined;
  for (const pair of cookie.split(';')) {
    const [name = '', value = ''] = pair.trim().split('=');
    if (name === NAME && TOKEN.test(value)) return value;
  }
  return undefined;
}

type SessionCookie = { readonly token: string; readonly baseUrl: string; readonly maxAgeSeconds: number };

/** Scripts cannot read it, and other sites cannot send it. A `maxAgeSeconds` of 0 deletes it. */
export function formatSessionCookie({ token, baseUrl, maxAgeSeconds }: SessionCookie): string {
  const { protocol, pathname } = new URL(baseUrl);
  return [
    `${NAME}=${token}`,
    `Path=${pathname.replace(/\/$/, '')}/`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    ...(protocol === 'https:' ? ['Secure'] : []),
    'SameSite=Strict',
  ].join('; ');
}
