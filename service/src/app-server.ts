// Builds the HTTP server from the routes: CORS, rate limits, protocol guards, routes, documentation.
import { renderOpenApi } from '@mediary/contract/openapi/document';
import type { Operation } from '@mediary/contract/operation';
import { OPERATIONS } from '@mediary/contract/operations';
import { type AppContext, VERSION } from './app-base.ts';
import { allowOrigins } from './platform/http/cross-origin.ts';
import { type ConsolePages, serveConsole } from './platform/http/pages/console-pages.ts';
import { type GuideSite, openGuideSite, serveGuides } from './platform/http/pages/guide-pages.ts';
import { serveDocumentation } from './platform/http/pages/documentation.ts';
import { serveStartPage } from './platform/http/pages/start-page.ts';
import { mount } from './platform/http/mount.ts';
import { guardProtocol } from './platform/http/limits/protocol-guards.ts';
import type { FindCachedResponse } from './platform/http/cached-responses.ts';
import { type Limiters, limitAddresses } from './platform/http/limits/rate-limit.ts';
import type { DescribeRequest } from './platform/http/request-scope.ts';
import type { Route } from './platform/http/route.ts';
import { countCached, measureRequests } from './platform/http/request-metrics.ts';
import { createServer, type HttpServer } from './platform/http/server.ts';
import { createIdempotency } from './platform/http/idempotency.ts';
import { isUuid } from './platform/values/uuid.ts';

type ServerContent = {
  readonly routes: readonly Route[];
  /** The endpoints of the registered providers. */
  readonly webhookOperations: readonly Operation[];
  readonly limiters: Limiters;
  readonly findCachedResponse: FindCachedResponse;
  /** What the page of the console depends on. */
  readonly console: Omit<ConsolePages, 'publicBaseUrl'>;
};

export async function buildServer(
  app: AppContext,
  { routes, webhookOperations, limiters, findCachedResponse, console: consoleParts }: ServerContent,
): Promise<HttpServer> {
  const { config, publicBaseUrl } = app;
  const { db, providers } = app.adapters;
  const server = createEmptyServer(app, { findCachedResponse, describeRequest });
  await allowOrigins(server, config.corsOrigins);
  if (limiters.addresses) limitAddresses(server, limiters.addresses);
  guardProtocol(server);
  const names = [...providers.keys()];
  const once = createIdempotency(db, { now: app.clocks.now });
  mount(server, { once, known: { ProviderName: names }, ownerLimiter: limiters.owner }, routes);
  const guides =
    config.docs === 'on' ? await openGuideSite({ folder: app.guidesFolder, publicBaseUrl }) : undefined;
  const render = () =>
    renderOpenApi([...OPERATIONS, ...webhookOperations], {
      server: publicBaseUrl(),
      providers: names,
      version: VERSION,
      hasGuides: guides?.isBuilt ?? false,
    });
  servePages(server, app, { render, guides, console: consoleParts });
  return server;
}

type Pages = Pick<ServerContent, 'console'> & {
  readonly render: () => object;
  /** Undefined: `DOCS=off`. */
  readonly guides: GuideSite | undefined;
};

function servePages(server: HttpServer, { config, publicBaseUrl }: AppContext, pages: Pages): void {
  const { guides, render } = pages;
  const [hasConsole, hasDocs] = [config.console === 'on', guides !== undefined];
  if (hasConsole) serveConsole(server, { publicBaseUrl, ...pages.console });
  serveStartPage(server, { hasConsole, hasDocs, hasGuides: guides?.isBuilt ?? false, version: VERSION });
  serveDocumentation(server, { render, hasPages: hasDocs });
  if (guides) serveGuides(server, guides);
}

/** Health checks and metrics on HEALTH_PORT. A worker has no other listener. */
export function buildHealthServer(app: AppContext, routes: readonly Route[]): HttpServer {
  const server = createEmptyServer(app);
  guardProtocol(server);
  mount(server, { once: createIdempotency(app.adapters.db), known: {}, ownerLimiter: undefined }, routes);
  return server;
}

/** Checks of load balancers and scrapes have no traces. */
const describeRequest: DescribeRequest = ({ params, routeOptions: { url = '' } }) => {
  if (!url.startsWith('/api/')) return undefined;
  const { id } = params as { readonly id?: string };
  const isAssetId = id !== undefined && ASSET_ROUTE.test(url) && isUuid(id);
  return isAssetId ? { 'mediary.asset_id': id.toLowerCase() } : {};
};

const ASSET_ROUTE = /\/(?:media|playback)\/:id\b/;

function createEmptyServer(
  { config, log, checkEveryMs, adapters: { metrics } }: AppContext,
  options: Pick<Parameters<typeof createServer>[1], 'findCachedResponse' | 'describeRequest'> = {},
): HttpServer {
  const { findCachedResponse } = options;
  const server = createServer(log, {
    maxConnections: config.maxConnections,
    trustProxy: config.trustProxy,
    ...(checkEveryMs !== undefined && { checkEveryMs }),
    ...options,
    ...(findCachedResponse && { findCachedResponse: countCached(findCachedResponse, metrics) }),
  });
  measureRequests(server, metrics);
  return server;
}
