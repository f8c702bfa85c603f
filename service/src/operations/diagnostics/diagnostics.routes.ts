// Diagnostics for operators, and endpoints that show what the proxies in front of the service change.
import {
  echoRequest,
  echoUpload,
  getDiagnostics,
  streamDiagnostics,
  streamDownload,
} from '@mediary/contract/operations/diagnostics';
import type { FastifyRequest } from 'fastify';
import type { Bound } from '../../platform/bind.ts';
import { closeAfterResponse } from '../../platform/http/connections.ts';
import { success } from '../../platform/http/envelope.ts';
import { type AsOperator, type BytesExchange, bytesRoute } from '../../platform/http/route.ts';
import type { diagnose } from './diagnostics.ts';
import type { EchoedRequest, echoBody, echoHead, getNonce } from './echo.ts';
import type { openEvents, readFile } from './stream.ts';

type DiagnosticsOperations = {
  readonly diagnose: Bound<typeof diagnose>;
  readonly getNonce: Bound<typeof getNonce>;
  readonly echoBody: Bound<typeof echoBody>;
  readonly echoHead: Bound<typeof echoHead>;
  readonly openEvents: Bound<typeof openEvents>;
  readonly readFile: typeof readFile;
  readonly assertOperator: (raw: FastifyRequest['raw']) => void;
};

export const diagnosticsRoutes = (operations: DiagnosticsOperations, asOperator: AsOperator) => [
  asOperator(getDiagnostics, ({ query: { deep } }) => operations.diagnose({ isDeep: deep })),
  ...[echoRequest, echoUpload].map((operation) =>
    bytesRoute(operation, {
      body: 'stream',
      identify: (request) => identify(operations, request),
      handle: (request, reply) => echo(operations, { request, reply }),
    }),
  ),
  ...[streamDiagnostics, streamDownload].map((operation) =>
    bytesRoute(operation, {
      identify: (request) => identify(operations, request),
      handle: (request, reply) => stream(operations, { request, reply }),
    }),
  ),
];

/** The nonce of the token; undefined for operators. */
function identify(operations: DiagnosticsOperations, { headers, raw }: FastifyRequest): string | undefined {
  const token = headers['x-diagnostics-token'];
  if (typeof token === 'string') return operations.getNonce(token);
  operations.assertOperator(raw);
  return undefined;
}

async function echo(
  { echoBody, echoHead }: DiagnosticsOperations,
  { request, reply }: BytesExchange<{ readonly respond: 'end' | 'head' }>,
): Promise<unknown> {
  const echoed = toEchoedRequest(request);
  try {
    const data = request.query.respond === 'head' ? echoHead(echoed) : await echoBody(echoed);
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
  { openEvents, readFile }: DiagnosticsOperations,
  { request, reply }: BytesExchange<StreamQuery>,
): Promise<unknown> {
  const { method, headers, query } = request;
  const response =
    query.type === 'bytes' ? readFile({ method, headers }) : await openEvents({ method, options: query });
  return reply.code(response.status).headers(response.headers).send(response.body);
}
