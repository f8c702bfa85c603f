// Serves the OpenAPI document and the API reference page, which loads nothing from other hosts.
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createLazyValue } from '../concurrency/lazy-value.ts';
import { matchesEtag } from './headers.ts';

/** The page loads its scripts and styles from this service; everything else is blocked. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

type Documentation = {
  /** Renders the document; called at the first request, when the base URL is known. */
  readonly render: () => object;
  readonly hasPages: boolean;
};

export async function serveDocumentation(
  app: FastifyInstance,
  { render, hasPages }: Documentation,
): Promise<void> {
  await app.register(async (scope) => {
    sendPrepared(scope);
    let document: string | undefined;
    scope.get('/api/v1/openapi.json', async (_request, reply) => {
      reply.type('application/json; charset=utf-8');
      document ??= JSON.stringify(render());
      return document;
    });
  });
  if (hasPages) await app.register(servePages);
}

const PAGE_PATHS = ['/docs', '/docs/', '/docs/js/scalar.js'];

async function servePages(scope: FastifyInstance): Promise<void> {
  scope.addHook('onSend', async (_request, reply) => {
    reply.headers({ 'content-security-policy': PAGE_POLICY, 'cache-control': 'public, max-age=3600' });
  });
  sendPrepared(scope);
  const getPages = createLazyValue(openPages);
  for (const path of PAGE_PATHS)
    scope.get(path, async (_request, reply) => {
      const { statusCode, headers, payload } = await (await getPages()).inject(path);
      const { 'content-type': type, location } = headers;
      return reply
        .code(statusCode)
        .headers({ ...(type && { 'content-type': type }), ...(location && { location }) })
        .send(payload);
    });
}

/** Loaded with the first request, because the pages take 40 MiB of memory. */
async function openPages(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const pages = Fastify();
  await pages.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/api/v1/openapi.json',
      authentication: { preferredSecurityScheme: 'bearer' },
      pageTitle: 'Mediary',
      // Disables everything that links to Scalar's own services or loads from them.
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    } as object,
    logLevel: 'silent',
  });
  return pages;
}

/**
 * Compresses the first response of each route and reuses it, because these responses do not depend on the
 * request.
 */
function sendPrepared(scope: FastifyInstance): void {
  const prepared = new Map<string | undefined, Promise<PreparedContent>>();
  const prepare = (url: string | undefined, payload: string) =>
    prepareContent(payload).catch((error: unknown) => {
      prepared.delete(url);
      throw error;
    });
  scope.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string') return payload;
    const { url } = request.routeOptions;
    const content = prepared.get(url) ?? prepare(url, payload);
    prepared.set(url, content);
    return encodeContent({ request, reply }, await content);
  });
}

type Encoding = 'br' | 'gzip' | 'identity';
type PreparedContent = {
  readonly tag: string;
  readonly bodies: Readonly<Record<Encoding, Buffer>>;
};

/** Higher qualities take seconds for a script of several megabytes and save little. */
const BROTLI_QUALITY = 6;

/** Compresses in the thread pool, so that the event loop is not blocked. */
async function prepareContent(text: string): Promise<PreparedContent> {
  const identity = Buffer.from(text);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(identity),
  ]);
  return { tag: hash('sha256', identity).slice(0, 32), bodies: { br, gzip: gz, identity } };
}

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/**
 * Sets the headers and returns the body; null for a 304. Each encoding has an ETag of its own (RFC 9110
 * §8.8.3.3).
 */
function encodeContent({ request, reply }: Exchange, content: PreparedContent): Buffer | null {
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
        .split(';')
        .map((text) => text.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
      return [name, Number(weight) > 0] as const;
    }),
  );
  const isAccepted = (name: Encoding) => weights.get(name) ?? weights.get('*') ?? false;
  return (['br', 'gzip'] as const).find(isAccepted) ?? 'identity';
}
