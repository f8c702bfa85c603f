// HTTP headers: repeated lines, ETags, and file names for downloads.
import type { FastifyReply } from 'fastify';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** All values of a header, in order; `name` in lower case. Node itself keeps only one line or joins them. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const key = rawHeaders[index] as string;
    if (key.length === name.length && key.toLowerCase() === name)
      values.push(rawHeaders[index + 1] as string);
  }
  return values;
}

/**
 * Compares If-None-Match with an ETag (RFC 9110 §13.1.2). A cache may send several ETags, or a weak one when
 * it compressed the response.
 */
export const matchesEtag = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag) ?? false;

type HeaderExchange = {
  readonly request: { readonly headers: IncomingHttpHeaders };
  readonly reply: FastifyReply;
};

/** Sends 304 without a body to a client that has this version. */
export function sendVersion(
  { request, reply }: HeaderExchange,
  etag: string,
  body: string | Uint8Array,
): unknown {
  reply.header('etag', etag);
  return matchesEtag(request.headers['if-none-match'], etag) ? reply.code(304).send() : reply.send(body);
}

/** Redirects a fixed playback path with `?token=` to the path with the token, which its files need too. */
export const redirectToTokenPath = (reply: FastifyReply, token: string, path: string): unknown =>
  reply.header('cache-control', 'no-store').redirect(`./~${encodeURIComponent(token)}/${path}`, 302);

const ATTR_CHAR = /[A-Za-z0-9!#$&+.^_`|~-]/;

/**
 * Content-Disposition (RFC 6266, RFC 8187) with an ASCII fallback and the exact name. The name is escaped, so
 * it cannot inject quotes or header lines.
 */
export const attachment = (filename: string): string => `attachment; ${formatName(filename)}`;
export const inline = (filename: string): string => `inline; ${formatName(filename)}`;

function formatName(filename: string): string {
  const plain = filename
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["\\%/]/g, '_');
  return `filename="${plain}"; filename*=UTF-8''${encode(filename)}`;
}

const encode = (text: string): string =>
  [...Buffer.from(text.toWellFormed())].map((byte) => escapeByte(byte)).join('');

function escapeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return byte < 0x80 && ATTR_CHAR.test(character)
    ? character
    : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
