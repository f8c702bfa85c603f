// Closes requests whose body arrives too slowly: each holds a socket, and an upload also holds its write lease.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest, type ServiceError } from '../errors.ts';
import { closeSocketWith } from './close-socket.ts';
import { runAtInterval } from './server-interval.ts';

/** Minimum upload rate of a streamed body. A phone with a weak signal sends more than 400 bytes per second. */
const MIN_BODY_RATE = { bytes: 4096, seconds: 10 } as const;
/** Total time for every other body: JSON and webhooks are small, and webhooks come from untrusted senders. */
const BODY_TIMEOUT_S = 10;

/** Stores `socket` because `request.socket` becomes null when a handler stops reading early. */
type PendingBody = {
  readonly socket: Socket;
  readonly response: ServerResponse;
  since: number;
  bytesBefore: number;
};

const streamed = new WeakSet<IncomingMessage>();

/** Applies the minimum rate to this body instead of the total time. */
export const allowLongBody = (request: IncomingMessage): void => {
  streamed.add(request);
};

/** Checks every request, also those without a route. Uses the socket's byte counter, so chunks need no listener. */
export function closeSlowBodies(server: Server, everyMs: number): void {
  const pending = new Map<IncomingMessage, PendingBody>();
  server.on('request', (request, response) => {
    if (!hasBody(request)) return;
    const { socket } = request;
    pending.set(request, { socket, response, since: performance.now(), bytesBefore: socket.bytesRead });
    response.once('finish', () => {
      if (request.complete) pending.delete(request);
    });
  });
  runAtInterval(server, everyMs, (blockedMs) => {
    for (const [request, body] of pending) {
      body.since += blockedMs;
      if (isDone(request, body)) pending.delete(request);
    }
  });
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** True when the body is complete, aborted, or closed by this function. */
function isDone(request: IncomingMessage, body: PendingBody): boolean {
  const { socket, since, bytesBefore } = body;
  if (request.complete || socket.destroyed) return true;
  const isStreamed = streamed.has(request);
  const seconds = isStreamed ? MIN_BODY_RATE.seconds : BODY_TIMEOUT_S;
  if (performance.now() - since < seconds * 1000) return false;
  const isFastEnough = isStreamed && socket.bytesRead - bytesBefore >= MIN_BODY_RATE.bytes;
  // Buffered bytes wait for the service, not for the client.
  if (!isFastEnough && request.readableLength === 0) {
    close(body, isStreamed ? TOO_SLOW : TIMED_OUT);
    return true;
  }
  Object.assign(body, { since: performance.now(), bytesBefore: socket.bytesRead });
  return false;
}

const TOO_SLOW = badRequest(
  `The body arrived too slowly. Send at least ${MIN_BODY_RATE.bytes} bytes every ${MIN_BODY_RATE.seconds} seconds.`,
  { reason: 'too_slow', min_bytes: MIN_BODY_RATE.bytes, seconds: MIN_BODY_RATE.seconds },
);
const TIMED_OUT = badRequest(
  `The body did not arrive within ${BODY_TIMEOUT_S} seconds. Send the whole body at once.`,
  { reason: 'too_slow', seconds: BODY_TIMEOUT_S },
);

function close({ socket, response }: PendingBody, error: ServiceError): void {
  // A response that has started, or waits behind another one, cannot be replaced.
  if (response.headersSent || !response.socket) socket.destroy();
  else closeSocketWith(socket, error);
}
