// Closes connections in a way that lets the client read the error response.
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceError } from '../errors.ts';
import { formatRawResponse } from './envelope.ts';

/** Closing a socket with unread bytes resets it and can lose the response, so the service keeps reading for this long. */
const LINGER_MS = 1000;

/** Sends the error without the HTTP library, and closes the socket. */
export function closeSocketWith(socket: Duplex, error: ServiceError): void {
  socket.end(formatRawResponse(randomUUID(), error));
  destroyLater(socket);
}

/** Stops reading the body. Node would otherwise read it to its end to reach the next request of the connection. */
export function closeAfterResponse({ raw: { socket } }: FastifyRequest, reply: FastifyReply): void {
  reply.header('connection', 'close');
  // Node calls this after the last response, which would reset the connection of a client that is still sending.
  Object.assign((socket as Socket | null) ?? {}, {
    destroySoon() {
      socket.end();
      destroyLater(socket);
    },
  });
}

/** Destroys the socket even when the client does not close its side. */
function destroyLater(socket: Duplex): void {
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
