// Connections: how many may be open, how many requests one may pipeline, and how they are closed.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceError } from '../errors.ts';
import { formatRawResponse } from '../envelope.ts';

/**
 * Closing a socket with unread bytes resets it and can lose the response, so the service keeps reading for
 * this long.
 */
const LINGER_MS = 1000;

/** Sends the error without the HTTP library, and closes the socket. */
export function closeSocketWith(socket: Duplex, error: ServiceError): void {
  socket.end(formatRawResponse(randomUUID(), error));
  destroyLater(socket);
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/**
 * Stops reading the body. Node would otherwise read it to its end to reach the next request of the
 * connection.
 */
export const closeAfterResponse = (request: FastifyRequest, reply: FastifyReply): void =>
  closeWhen(Promise.resolve(), request, reply);

/** Closes the socket after the response, but not before `isRead` has resolved. */
export function closeWhen(
  isRead: Promise<void>,
  { raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.header('connection', 'close');
  // Node calls this after the last response, which would reset the connection of a client that is still
  // sending.
  Object.assign((socket as Socket | null) ?? {}, {
    destroySoon() {
      void isRead.then(() => {
        socket.end();
        destroyLater(socket);
      });
    },
  });
}

/** Destroys the socket even when the client does not close its side. */
function destroyLater(socket: Duplex): void {
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

type Limit = {
  readonly maxConnections: number;
  readonly logger: { warn(facts: object, message: string): void };
};

/** One log line per interval: a flood of refused connections must not flood the log. */
const WARN_EVERY_MS = 10_000;

/** The server closes further connections as they arrive; existing ones are served as before. */
export function limitConnections(server: Server, { maxConnections, logger }: Limit): void {
  server.maxConnections = maxConnections;
  let warnAfter = 0;
  server.on('drop', () => {
    if (performance.now() < warnAfter) return;
    warnAfter = performance.now() + WARN_EVERY_MS;
    logger.warn({ limit: maxConnections }, 'MAX_CONNECTIONS is reached: new connections are closed');
  });
}

/** Node would run all requests of a chunk concurrently and hold every response in memory. */
const MAX_WAITING_REQUESTS = 32;

type OpenExchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** Closes a connection with more than MAX_WAITING_REQUESTS pipelined requests. */
export function handleSequentially(handler: RequestListener): RequestListener {
  /** Sockets with a request in progress, and their waiting requests. */
  const busy = new WeakMap<object, OpenExchange[]>();
  const handle = ({ request, response }: OpenExchange): void => {
    const { socket } = request;
    response.once('close', () => {
      const next = busy.get(socket)?.shift();
      if (next && !socket.destroyed) handle(next);
      else busy.delete(socket);
    });
    handler(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    const waiting = busy.get(socket);
    if (socket.destroyed) return;
    if (!waiting) {
      busy.set(socket, []);
      handle({ request, response });
    } else if (waiting.length < MAX_WAITING_REQUESTS) waiting.push({ request, response });
    else socket.destroy();
  };
}
