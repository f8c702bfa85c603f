// Serves the OpenAPI document and the API reference page, which loads nothing from other hosts.
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createLazyValue } from '../../concurrency/lazy-value.ts';
import { matchesEtag, sendVersion } from '../headers.ts';
import { PAGE_ICON } from './page-icon.ts';

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

export function serveDocumentation(app: FastifyInstance, { render, hasPages }: Documentation): void {
  const getDocument = createLazyValue(async () =>
    prepareContent('application/json; charset=utf-8', JSON.stringify(render())),
  );
  app.get('/api/v1/openapi.json', async (request, reply) =>
    sendPrepared({ request, reply }, await getDocument()),
  );
  if (hasPages) servePages(app);
}

const PAGE_PATHS = ['/docs/', '/docs/js/scalar.js'] as const;

function servePages(app: FastifyInstance): void {
  const getPages = createLazyValue(preparePages);
  const addHeaders = (reply: FastifyReply) =>
    reply.headers({ 'content-security-policy': PAGE_POLICY, 'cache-control': 'public, max-age=3600' });
  app.get('/docs', async (_request, reply) => addHeaders(reply).redirect('docs/', 302));
  // The address that the service prints at its start.
  app.get('/', async (_request, reply) => addHeaders(reply).redirect('docs/', 302));
  for (const path of PAGE_PATHS)
    app.get(path, async (request, reply) =>
      sendPrepared({ request, reply: addHeaders(reply) }, (await getPages())[path]),
    );
}

type Pages = Readonly<Record<(typeof PAGE_PATHS)[number], PreparedContent>>;

/** With the first request, because the pages take 40 MiB of memory while they are prepared. */
async function preparePages(): Promise<Pages> {
  const pages = await openPages();
  const prepared = PAGE_PATHS.map(async (path) => {
    const { headers, payload } = await pages.inject(path);
    const type = String(headers['content-type']);
    const text = type.startsWith('text/html') ? addIcon(payload) : payload;
    return [path, await prepareContent(type, text)] as const;
  });
  return Object.fromEntries(await Promise.all(prepared)) as Pages;
}

/** The script of the page would set an icon too late: browsers have asked for one by then. */
const addIcon = (text: string): string => text.replace('<head>', `<head>${PAGE_ICON}`);

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

type Encoding = 'br' | 'gzip' | 'identity';
type PreparedContent = {
  readonly type: string;
  readonly tag: string;
  readonly bodies: Readonly<Record<Encoding, Buffer>>;
};

/** Higher qualities take seconds for a script of several megabytes and save little. */
const BROTLI_QUALITY = 6;

/** Compresses in the thread pool, so that the event loop is not blocked. */
async function prepareContent(type: string, text: string): Promise<PreparedContent> {
  const identity = Buffer.from(text);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(identity),
  ]);
  return { type, tag: hash('sha256', identity).slice(0, 32), bodies: { br, gzip: gz, identity } };
}

type PageCall = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** Each encoding has an ETag of its own (RFC 9110 §8.8.3.3). */
function sendPrepared({ request, reply }: PageCall, { type, tag, bodies }: PreparedContent): unknown {
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
