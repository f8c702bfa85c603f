// Serves the OpenAPI document and the API reference page, which loads nothing from other hosts.
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { createLazyValue } from '../../concurrency/lazy-value.ts';
import { PAGE_ICON } from './page-icon.ts';
import { type PreparedContent, prepareContent, sendPrepared } from './prepared-content.ts';

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
