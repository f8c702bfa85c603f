// Builds the HTTP server from the routes: CORS, rate limits, protocol guards, routes, documentation.
import { renderOpenApi } from '@mediary/contract/openapi/document';
import type { Operation } from '@mediary/contract/operation';
import { OPERATIONS } from '@mediary/contract/operations';
import { type AppContext, VERSION } from './app-context.ts';
import { readSessionCookie } from './auth/sessions/session-cookie.ts';
import { allowOrigins } from './platform/http/cross-origin.ts';
import { serveConsole } from './platform/http/pages/console-pages.ts';
import { serveDocumentation } from './platform/http/pages/documentation.ts';
import { serveStartPage } from './platform/http/pages/start-page.ts';
import { mount } from './platform/http/mount.ts';
import { guardProtocol } from './platform/http/limits/protocol-guards.ts';
import type { FindCachedResponse } from './platform/http/cached-responses.ts';
import { type Limiters, limitAddresses } from './platform/http/limits/rate-limit.ts';
import type { Route } from './platform/http/route.ts';
import { countCached, measureRequests } from './platform/http/request-metrics.ts';
import { createServer, type HttpServer } from './platform/http/server.ts';
import { uploadKey } from './storage/object-key.ts';
import { createIdempotency } from './platform/http/idempotency.ts';

type ServerContent = {
  readonly routes: readonly Route[];
  /** The endpoints of the registered providers. */
  readonly webhookOperations: readonly Operation[];
  readonly limiters: Limiters;
  readonly findCachedResponse: FindCachedResponse;
};

export async function buildServer(
  app: AppContext,
  { routes, webhookOperations, limiters, findCachedResponse }: ServerContent,
): Promise<HttpServer> {
  const { config, publicBaseUrl } = app;
  const { db, providers } = app.adapters;
  const server = createEmptyServer(app, findCachedResponse);
  await allowOrigins(server, config.corsOrigins);
  if (limiters.addresses) limitAddresses(server, limiters.addresses);
  guardProtocol(server);
  const names = [...providers.keys()];
  mount(
    server,
    { once: createIdempotency(db), known: { ProviderName: names }, ownerLimiter: limiters.owner },
    routes,
  );
  if (config.console === 'on')
    serveConsole(server, {
      publicBaseUrl,
      hasSession: ({ cookie }) => readSessionCookie(cookie) !== undefined,
      mediaSources: () => findMediaSources(app),
    });
  serveStartPage(server, {
    hasConsole: config.console === 'on',
    hasDocs: config.docs === 'on',
    version: VERSION,
  });
  serveDocumentation(server, {
    render: () =>
      renderOpenApi([...OPERATIONS, ...webhookOperations], {
        server: publicBaseUrl(),
        providers: names,
        version: VERSION,
      }),
    hasPages: config.docs === 'on',
  });
  return server;
}

/** Where the console plays from, and uploads to, beside this service. */
async function findMediaSources({ config, adapters: { store, providers } }: AppContext): Promise<string[]> {
  const { cdnBaseUrl } = config.delivery;
  const key = uploadKey(NO_ID, NO_ID);
  const stored = await store.direct?.presignGet({
    key,
    expiresInSeconds: 1,
    responseContentType: 'video/mp4',
  });
  const origins = [cdnBaseUrl, stored?.url].flatMap((url) =>
    url === undefined ? [] : [new URL(url).origin],
  );
  const hosted = [...providers.keys()].filter((name) => name !== 'onprem');
  return [...new Set(origins), ...(hosted.length > 0 ? ['https:'] : [])];
}
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Health checks and metrics on HEALTH_PORT. A worker has no other listener. */
export function buildHealthServer(app: AppContext, routes: readonly Route[]): HttpServer {
  const server = createEmptyServer(app);
  guardProtocol(server);
  mount(server, { once: createIdempotency(app.adapters.db), known: {}, ownerLimiter: undefined }, routes);
  return server;
}

function createEmptyServer(
  { config, log, checkEveryMs, adapters: { metrics } }: AppContext,
  findCachedResponse?: FindCachedResponse,
): HttpServer {
  const server = createServer(log, {
    maxConnections: config.maxConnections,
    trustProxy: config.trustProxy,
    ...(checkEveryMs !== undefined && { checkEveryMs }),
    ...(findCachedResponse && { findCachedResponse: countCached(findCachedResponse, metrics) }),
  });
  measureRequests(server, metrics);
  return server;
}
