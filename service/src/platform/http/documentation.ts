// The API's description, made from the schemas that validate, and a page to read it on that asks no other host for anything.
import swagger from '@fastify/swagger';
import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';

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

export async function serveDocumentation(app: FastifyInstance): Promise<void> {
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  await app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => {
      reply.headers({ 'content-security-policy': PAGE_POLICY, 'cache-control': 'public, max-age=3600' });
    });
    await scope.register(reference, {
      routePrefix: '/docs',
      configuration: {
        url: '/api/v1/openapi.json',
        authentication: { preferredSecurityScheme: 'bearer' },
        pageTitle: 'Mediary',
        // What would lead to the maker's own services, or load from there.
        withDefaultFonts: false,
        telemetry: false,
        hideClientButton: true,
        showDeveloperTools: 'never',
        agent: { disabled: true },
        mcp: { disabled: true },
      } as object,
      logLevel: 'silent',
    });
  });
}
