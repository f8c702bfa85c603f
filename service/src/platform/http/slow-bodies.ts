// Ends requests whose body hardly comes any more: each of them holds a socket, and an upload the right to write besides.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { badRequest } from '../errors.ts';
import { hangUp } from './hang-up.ts';

/** So much must come in each stretch of so long: 400 bytes a second, less than a phone at the edge of its cell sends, far more than whoever only holds sockets. */
export const SLOWEST_BODY = { bytes: 4096, seconds: 10 } as const;
const LOOK_EVERY_MS = 1000;

/** A body on its way, and how much the socket had brought when its stretch began. */
type Coming = { readonly response: ServerResponse; since: number; bytesThen: number };

/** For all requests, whether a route takes their body or not. Sockets count the bytes, so a chunk costs nothing more. */
export function endSlowBodies(server: Server): void {
  const coming = new Map<IncomingMessage, Coming>();
  server.on('request', (request, response) => {
    if (!hasBody(request)) return;
    coming.set(request, { response, since: performance.now(), bytesThen: request.socket.bytesRead });
    response.once('finish', () => {
      if (request.complete) coming.delete(request);
    });
  });
  const looking = setInterval(() => {
    for (const [request, body] of coming) if (isOver(request, body)) coming.delete(request);
  }, LOOK_EVERY_MS).unref();
  server.once('close', () => clearInterval(looking));
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Whether there is nothing more to watch: it came, it broke off, or it is ended here. */
function isOver(request: IncomingMessage, body: Coming): boolean {
  const { socket } = request;
  if (request.complete || socket.destroyed) return true;
  if (performance.now() - body.since < SLOWEST_BODY.seconds * 1000) return false;
  // Bytes that wait for us are no fault of the client's.
  if (socket.bytesRead - body.bytesThen < SLOWEST_BODY.bytes && request.readableLength === 0) {
    end(body.response, request);
    return true;
  }
  Object.assign(body, { since: performance.now(), bytesThen: socket.bytesRead });
  return false;
}

function end({ headersSent, socket }: ServerResponse, request: IncomingMessage): void {
  // It has its answer, or stands behind another request that has none yet.
  if (headersSent || !socket) return void request.socket.destroy();
  hangUp(
    socket,
    badRequest('The body came too slowly', {
      reason: 'too_slow',
      min_bytes: SLOWEST_BODY.bytes,
      seconds: SLOWEST_BODY.seconds,
    }),
  );
}
