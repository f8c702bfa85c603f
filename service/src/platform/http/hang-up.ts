// Ends a connection with a last answer, where no ordinary one can be sent.
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { ServiceError } from '../errors.ts';
import { rawAnswer } from './envelope.ts';

/** To close over bytes that nobody has read resets the connection, and the answer may be lost with it: so long they are let in. */
const LINGER_MS = 1000;

/** Whoever does not hang up too, does not keep the socket. */
export function hangUp(socket: Duplex, error: ServiceError): void {
  socket.end(rawAnswer(randomUUID(), error));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
