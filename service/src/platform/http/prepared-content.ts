// Static content: compressed once at start, and served from the same buffers.
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesEtag } from './etag.ts';

type Encoding = 'br' | 'gzip' | 'identity';
export type PreparedContent = {
  readonly tag: string;
  readonly bodies: Readonly<Record<Encoding, Buffer>>;
};

/** Higher qualities take seconds for a script of several megabytes and save little. */
const BROTLI_QUALITY = 6;

/** Compresses in the thread pool, so that the event loop is not blocked. */
export async function prepareContent(text: string): Promise<PreparedContent> {
  const identity = Buffer.from(text);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(identity),
  ]);
  return { tag: hash('sha256', identity).slice(0, 32), bodies: { br, gzip: gz, identity } };
}

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** Sets the headers and returns the body; null for a 304. Each encoding has an ETag of its own (RFC 9110 §8.8.3.3). */
export function encodeContent({ request, reply }: Exchange, content: PreparedContent): Buffer | null {
  const encoding = chooseEncoding(request.headers['accept-encoding']);
  const etag = `"${content.tag}-${encoding}"`;
  reply.headers({ etag, vary: varyOf(reply) });
  if (matchesEtag(request.headers['if-none-match'], etag)) {
    reply.code(304).removeHeader('content-length');
    return null;
  }
  const body = content.bodies[encoding];
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  reply.header('content-length', body.length);
  return body;
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
        .split(/\s*;\s*/);
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
      return [name, Number(weight) > 0] as const;
    }),
  );
  const isAccepted = (name: Encoding) => weights.get(name) ?? weights.get('*') ?? false;
  return (['br', 'gzip'] as const).find(isAccepted) ?? 'identity';
}
