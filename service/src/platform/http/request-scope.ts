// Gives each request a scope, in which log lines have its id, and a span where it is traced.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SpanAttributes } from '../observability/trace-span.ts';
import { endScope, openScope, runInScope, type TraceScope } from '../observability/tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    scope: TraceScope | null;
  }
}

/** Attributes of the span of a request; undefined: it has no span. */
export type DescribeRequest = (request: FastifyRequest) => SpanAttributes | undefined;

/** Before all other hooks. */
export function openScopes(app: FastifyInstance, describe: DescribeRequest): void {
  app.decorateRequest('scope', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.scope = openScope(request.id, () => toSpan(request, describe), traceparentOf(request));
    runInScope(request.scope, done);
  });
  // The end of a body that Fastify reads is an event of the connection, outside of the scope.
  app.addHook('preValidation', (request, _reply, done) => runInScope(request.scope ?? undefined, done));
  app.addHook('onResponse', ({ scope }, { statusCode }, done) => {
    // The line of the response names its request itself.
    runInScope(scope?.span ? scope : undefined, done);
    const error = statusCode >= 500 ? { code: statusCode } : undefined;
    if (scope) endScope(scope, { 'http.response.status_code': statusCode }, error);
  });
}

function toSpan(request: FastifyRequest, describe: DescribeRequest) {
  const { config, url } = request.routeOptions;
  const operationId = config?.operationId;
  const attributes = operationId === undefined ? undefined : describe(request);
  if (operationId === undefined || attributes === undefined) return undefined;
  return {
    name: operationId,
    kind: 'server',
    attributes: {
      'http.request.method': request.method,
      ...(url !== undefined && { 'http.route': url }),
      'mediary.request_id': request.id,
      ...attributes,
    },
  } as const;
}

function traceparentOf({ headers }: FastifyRequest): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? traceparent : undefined;
}
