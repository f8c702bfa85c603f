// Diagnostics for operators, and endpoints that show what the proxies in front of the service change.
import {
  echoRequest,
  echoUpload,
  getDiagnostics,
  streamDiagnostics,
  streamDownload,
} from '@mediary/contract/operations/admin/diagnostics';
import type { FastifyRequest } from 'fastify';
import {
  type ConcurrencyLimit,
  createConcurrencyLimit,
} from '../../platform/concurrency/concurrency-limit.ts';
import { closeAfterResponse } from '../../platform/http/limits/connections.ts';
import { success } from '../../platform/http/envelope.ts';
import { type BytesExchange, bytesRoute } from '../../platform/http/route.ts';
import type { OperationsContext } from '../context.ts';
import { assertOperator } from '../../auth/operator.hook.ts';
import { createDiagnoser } from './diagnostics.ts';
import { type EchoedRequest, echoBody, echoHead, getNonce } from './echo.ts';
import { openEvents, readFile } from './stream.ts';

/** Echoes, and streams, that operators may hold at the same time; each may last a minute. */
const MAX_HELD = 8;

export function diagnosticsRoutes(ctx: OperationsContext) {
  const limit = createConcurrencyLimit({ total: MAX_HELD, perKey: MAX_HELD });
  const diagnose = createDiagnoser(ctx);
  const identify = (request: FastifyRequest) => identifyOperator(ctx, request);
  return [
    ctx.asOperator(getDiagnostics, ({ query: { deep } }) => diagnose({ isDeep: deep })),
    ...[echoRequest, echoUpload].map((operation) =>
      bytesRoute(operation, {
        body: 'stream',
        identify,
        handle: (request, reply) => echo({ ctx, limit }, { request, reply }),
      }),
    ),
    ...[streamDiagnostics, streamDownload].map((operation) =>
      bytesRoute(operation, {
        identify,
        handle: (request, reply) => stream(limit, { request, reply }),
      }),
    ),
  ];
}

/** The nonce of the token; undefined for operators. */
function identifyOperator(ctx: OperationsContext, { headers, raw }: FastifyRequest): string | undefined {
  const token = headers['x-diagnostics-token'];
  if (typeof token === 'string') return getNonce(ctx, token);
  assertOperator(raw, ctx.settings.operatorKeys);
  return undefined;
}

async function echo(
  { ctx, limit }: { readonly ctx: OperationsContext; readonly limit: ConcurrencyLimit },
  { request, reply }: BytesExchange<{ readonly respond: 'end' | 'head' }>,
): Promise<unknown> {
  const echoed = toEchoedRequest(request);
  try {
    const data =
      request.query.respond === 'head'
        ? echoHead(ctx, echoed)
        : await limit('echo', () => echoBody(ctx, echoed));
    return success(request.id, echoRequest.message ?? '', data);
  } finally {
    if (!request.raw.complete) closeAfterResponse(request, reply);
  }
}

const toEchoedRequest = ({ raw, headers, method, url, ip, identity }: FastifyRequest): EchoedRequest => ({
  nonce: identity as string | undefined,
  method,
  path: url.replace(/\?.*$/, ''),
  protocol: `HTTP/${raw.httpVersion}`,
  headers,
  peer_address: raw.socket.remoteAddress ?? '',
  client_address: ip,
  // An iterator that stops early must not destroy the socket, which still has to send the response.
  body: raw.iterator({ destroyOnReturn: false }),
});

type StreamQuery = {
  readonly type: 'events' | 'bytes';
  readonly chunks: number;
  readonly interval_ms: number;
};

async function stream(
  limit: ConcurrencyLimit,
  { request, reply }: BytesExchange<StreamQuery>,
): Promise<unknown> {
  const { method, headers, query } = request;
  const response =
    query.type === 'bytes'
      ? readFile({ method, headers })
      : await openEvents(limit, { method, options: query });
  return reply.code(response.status).headers(response.headers).send(response.body);
}
