// Closes connections so that the client can still read why.
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceError } from '../errors.ts';
import { rawAnswer } from './envelope.ts';

/** Closing a socket with unread bytes resets it and can lose the response, so the service keeps reading for this long. */
const LINGER_MS = 1000;

/** Sends the error where the HTTP library can send none, and closes the socket. */
export function closeSocketWith(socket: Duplex, error: ServiceError): void {
  socket.end(rawAnswer(randomUUID(), error));
  destroyLater(socket);
}

/** Refuses the rest of a body: otherwise it would be read to its end, however long, for the next request behind it. */
export function closeAfterResponse({ raw: { socket } }: FastifyRequest, reply: FastifyReply): void {
  reply.header('connection', 'close');
  // The library calls this after the last response, and would reset the client that is still sending.
  Object.assign((socket as Socket | null) ?? {}, {
    destroySoon() {
      socket.end();
      destroyLater(socket);
    },
  });
}

/** Also when the client keeps its own side open. */
function destroyLater(socket: Duplex): void {
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
