// Content that is compressed once and sent many times, with an ETag.
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesEtag, sendVersion } from '../headers.ts';

type Encoding = 'br' | 'gzip' | 'identity';
export type PreparedContent = {
  readonly type: string;
  readonly tag: string;
  readonly bodies: Readonly<Record<Encoding, Buffer>>;
};

/** Higher qualities take seconds for a script of several megabytes and save little. */
const BROTLI_QUALITY = 6;

/** Compresses in the thread pool, so that the event loop is not blocked. */
export async function prepareContent(type: string, content: string | Buffer): Promise<PreparedContent> {
  const identity = Buffer.from(content);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(identity),
  ]);
  return { type, tag: hash('sha256', identity).slice(0, 32), bodies: { br, gzip: gz, identity } };
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  svg: 'image/svg+xml',
  // A list of pages in Markdown: https://llmstxt.org.
  txt: 'text/markdown; charset=utf-8',
  webp: 'image/webp',
};

export const typeOf = (name: string): string =>
  TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';

/** The files of a folder by name; none if there is no such folder. */
export async function prepareFolder(folder: string): Promise<ReadonlyMap<string, PreparedContent>> {
  const names = await readdir(folder).catch(() => []);
  const files = names.sort().map(async (name) => {
    const content = await readFile(join(folder, name));
    return [name, await prepareContent(typeOf(name), content)] as const;
  });
  return new Map(await Promise.all(files));
}

/** Of files whose name changes with their content. */
export const FOREVER = 'public, max-age=31536000, immutable';

/** Of pages that no other page may frame. They send their origin, by which access rules know them. */
export const PAGE_HEADERS = { 'referrer-policy': 'strict-origin', 'x-frame-options': 'DENY' };

/** The path of PUBLIC_BASE_URL without a slash at its end; empty for an address without a path. */
export const basePathOf = (publicBaseUrl: string): string =>
  new URL(publicBaseUrl).pathname.replace(/\/$/, '');

type PageCall = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** Each encoding has an ETag of its own (RFC 9110 §8.8.3.3). */
export function sendPrepared({ request, reply }: PageCall, { type, tag, bodies }: PreparedContent): unknown {
  const encoding = chooseEncoding(request.headers['accept-encoding']);
  reply.header('vary', varyOf(reply)).type(type);
  const etag = `"${tag}-${encoding}"`;
  if (encoding !== 'identity' && !matchesEtag(request.headers['if-none-match'], etag))
    reply.header('content-encoding', encoding);
  return sendVersion({ request, reply }, etag, bodies[encoding]);
}

/** Keeps `Origin`, which the CORS hook may have added. */
const varyOf = (reply: FastifyReply): string =>
  [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', ');

/** Prefers Brotli, then gzip, then no encoding. `;q=0` excludes an encoding, `*` matches all others. */
export function chooseEncoding(accepted = ''): Encoding {
  const weights = new Map(
    accepted.split(',').map((part) => {
      const [name = '', ...parameters] = part
        .trim()
        .toLowerCase()
        .split(';')
        .map((text) => text.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
      return [name, Number(weight) > 0] as const;
    }),
  );
  const isAccepted = (name: Encoding) => weights.get(name) ?? weights.get('*') ?? false;
  return (['br', 'gzip'] as const).find(isAccepted) ?? 'identity';
}
