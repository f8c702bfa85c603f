// Reads and formats the cookies of this service: scripts cannot read them, and each belongs to one path.

export type CookieKind = {
  readonly name: string;
  /** The form of its token. */
  readonly token: RegExp;
  readonly sameSite: 'Lax' | 'Strict';
};

/** The token in a `Cookie` header; undefined if there is none. */
export function readCookie(kind: CookieKind, header: string | undefined): string | undefined {
  if (!header?.includes(kind.name)) return undefined;
  for (const pair of header.split(';')) {
    const [name = '', value = ''] = pair.trim().split('=');
    if (name === kind.name && kind.token.test(value)) return value;
  }
  return undefined;
}

type Cookie = {
  readonly token: string;
  /** URL of the folder that receives the cookie. */
  readonly url: string;
  /** 0 deletes it. */
  readonly maxAgeSeconds: number;
};

export function formatCookie({ name, sameSite }: CookieKind, { token, url, maxAgeSeconds }: Cookie): string {
  const { protocol, pathname } = new URL(url);
  return [
    `${name}=${token}`,
    `Path=${pathname}`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    ...(protocol === 'https:' ? ['Secure'] : []),
    `SameSite=${sameSite}`,
  ].join('; ');
}
