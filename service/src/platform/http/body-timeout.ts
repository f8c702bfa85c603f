// Closes requests whose body arrives too slowly: each holds a socket, and an upload also holds the right to write.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest, type ServiceError } from '../errors.ts';
import { closeSocketWith } from './close-socket.ts';
import { checkEvery } from './server-interval.ts';

/** Minimum rate of a streamed upload, which may take hours: 400 bytes a second is less than a phone on a weak signal sends. */
export const MIN_BODY_RATE = { bytes: 4096, seconds: 10 } as const;
/** Total time for every other body: JSON and webhooks are small, and a webhook may come from anybody. */
export const BODY_TIMEOUT_S = 10;

/** `socket` is kept because `request.socket` becomes null when a handler stops reading early. */
type PendingBody = {
  readonly socket: Socket;
  readonly response: ServerResponse;
  since: number;
  bytesBefore: number;
};

const streamed = new WeakSet<IncomingMessage>();

/** Holds this body to the minimum rate instead of the total time. */
export const allowLongBody = (request: IncomingMessage): void => {
  streamed.add(request);
};

/** Watches every request, also those that no route accepts. The socket counts the bytes, so a chunk costs nothing. */
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
  checkEvery(server, everyMs, (blockedMs) => {
    for (const [request, body] of pending) {
      body.since += blockedMs;
      if (isDone(request, body)) pending.delete(request);
    }
  });
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** True when the body arrived, broke off, or is closed here. */
function isDone(request: IncomingMessage, body: PendingBody): boolean {
  const { socket, since, bytesBefore } = body;
  if (request.complete || socket.destroyed) return true;
  const isStreamed = streamed.has(request);
  const seconds = isStreamed ? MIN_BODY_RATE.seconds : BODY_TIMEOUT_S;
  if (performance.now() - since < seconds * 1000) return false;
  const isFastEnough = isStreamed && socket.bytesRead - bytesBefore >= MIN_BODY_RATE.bytes;
  // Buffered bytes wait for the service, which is no fault of the client's.
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
  // A response that has begun, or that stands behind another one, cannot be replaced.
  if (response.headersSent || !response.socket) socket.destroy();
  else closeSocketWith(socket, error);
}
