// The API's description, made from the schemas that validate, and a page to read it on that asks no other host for anything.
import swagger from '@fastify/swagger';
import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import { encodeContent, type PreparedContent, prepareContent } from './prepared-content.ts';

const ABOUT = `One contract between an application and everything that stores, encodes and streams its media.

Every answer stands in one envelope: \`success\`, \`message\`, \`code\` (the HTTP status), \`data\` or \`error\` {\`error_code\`, \`details\`}, \`request_id\`, \`timestamp\`.
A well-formed \`X-Request-Id\` is adopted, else one is made; it comes back in the body and in the header.`;

/** Before any route is registered. */
export async function describeApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Mediary', version: '1', description: ABOUT },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'HS256 access token with claims `user_id` and `type` = `access`',
          },
          serviceKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-Service-Key',
            description: 'A back end; it names `owner_user_id`',
          },
          operatorKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-Operator-Key',
            description: 'Whoever runs the service',
          },
        },
      },
    },
  });
}

/** The page's own scripts and styles come from here; nothing else may load. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export async function serveDocumentation(
  app: FastifyInstance,
  { hasPages }: { readonly hasPages: boolean },
): Promise<void> {
  let document: string | undefined;
  await app.register(async (scope) => {
    sendPrepared(scope);
    scope.get('/api/v1/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
      reply.type('application/json; charset=utf-8');
      document ??= JSON.stringify(app.swagger());
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
