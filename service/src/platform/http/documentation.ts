// Serves the OpenAPI document, and a page to read it on that loads nothing from other hosts.
import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import { encodeContent, type PreparedContent, prepareContent } from './prepared-content.ts';

/** The page's own scripts and styles come from here; nothing else may load. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

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

async function servePages(scope: FastifyInstance): Promise<void> {
  scope.addHook('onSend', async (_request, reply) => {
    reply.headers({ 'content-security-policy': PAGE_POLICY, 'cache-control': 'public, max-age=3600' });
  });
  sendPrepared(scope);
  await scope.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/api/v1/openapi.json',
      authentication: { preferredSecurityScheme: 'bearer' },
      pageTitle: 'Mediary',
      // Everything that would lead to its maker's services, or load from them, is off.
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    } as object,
    logLevel: 'silent',
  });
}

/** The first response of each route of the scope is kept as prepared content: none of them depends on the request. */
function sendPrepared(scope: FastifyInstance): void {
  const prepared = new Map<string | undefined, Promise<PreparedContent>>();
  scope.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string') return payload;
    const { url } = request.routeOptions;
    const content = prepared.get(url) ?? prepareContent(payload);
    prepared.set(url, content);
    return encodeContent({ request, reply }, await content);
  });
}
