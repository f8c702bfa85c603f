// Closes connections of slow clients: bodies that arrive too slowly, and responses that are not read.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest, type ServiceError } from '../errors.ts';
import { closeSocketWith, hasBody } from './connections.ts';

/**
 * Minimum upload rate of a streamed body. A phone with a weak signal sends more than 400 bytes per second.
 */
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

/**
 * A slow request holds a socket, and an upload also its write lease. Checks every request, also those without
 * a route, by the socket's byte counter.
 */
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
      if (isOver(request, body) || closeIfSlow(request, body)) pending.delete(request);
    }
  });
}

const isOver = ({ complete }: IncomingMessage, { socket }: PendingBody): boolean =>
  complete || socket.destroyed;

/** Returns whether it closed the connection. */
function closeIfSlow(request: IncomingMessage, body: PendingBody): boolean {
  const { socket, response, since, bytesBefore } = body;
  // Nobody needs the rest of a body after its response.
  const isStreamed = streamed.has(request) && !response.headersSent;
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
  'The body arrived too slowly. ' +
    `Send at least ${MIN_BODY_RATE.bytes} bytes every ${MIN_BODY_RATE.seconds} seconds.`,
  { reason: 'request_too_slow', min_bytes: MIN_BODY_RATE.bytes, window_s: MIN_BODY_RATE.seconds },
);
const TIMED_OUT = badRequest(
  `The body did not arrive within ${BODY_TIMEOUT_S} seconds. Send the whole body at once.`,
  { reason: 'request_too_slow', window_s: BODY_TIMEOUT_S },
);

function close({ socket, response }: PendingBody, error: ServiceError): void {
  // A response that has started, or waits behind another one, cannot be replaced.
  if (response.headersSent || !response.socket) socket.destroy();
  else closeSocketWith(socket, error);
}

/**
 * A connection is closed when the client reads nothing for this time, because unsent data stays in memory.
 */
const WRITE_TIMEOUT_S = 15;

type PendingWrite = { since: number; written: number; queued: number };

export function closeStalledWrites(server: Server, everyMs: number): void {
  const open = new Map<Socket, PendingWrite>();
  server.on('connection', (socket: Socket) => {
    open.set(socket, { since: performance.now(), written: 0, queued: 0 });
    socket.once('close', () => open.delete(socket));
  });
  runAtInterval(server, everyMs, (blockedMs) => {
    for (const [socket, write] of open) {
      write.since += blockedMs;
      updateProgress(socket, write);
      if (performance.now() - write.since > WRITE_TIMEOUT_S * 1000) socket.destroy();
    }
  });
}

/** Progress is either more finished writes, or fewer queued bytes of the write in progress. */
function updateProgress(socket: Socket, write: PendingWrite): void {
  const [written, queued] = [socket.bytesWritten - socket.writableLength, queueSizeOf(socket)];
  if (socket.writableLength === 0 || written !== write.written || queued !== write.queued)
    Object.assign(write, { since: performance.now(), written, queued });
}

/** Node's own socket timeout uses the same counter. Without it, only finished writes would count. */
const queueSizeOf = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;

/** A larger delay means that the event loop was blocked. */
const LATE_MS = 1000;

/**
 * Passes to `check` for how long the event loop was blocked, in ms. Timers run before sockets are read, so a
 * timeout must allow for this time.
 */
function runAtInterval(server: Server, everyMs: number, check: (blockedMs: number) => void): void {
  let last = performance.now();
  const timer = setInterval(() => {
    const late = performance.now() - last - everyMs;
    last = performance.now();
    check(late > LATE_MS ? late : 0);
  }, everyMs).unref();
  server.once('close', () => clearInterval(timer));
}
