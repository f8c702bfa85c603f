// Closes a connection with a last error response, where the HTTP library can send none.
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { ServiceError } from '../errors.ts';
import { rawAnswer } from './envelope.ts';

/** Closing a socket with unread bytes resets it and can lose the response, so the service keeps reading for this long. */
const LINGER_MS = 1000;

/** Sends the error, then closes the socket, also when the client keeps its own side open. */
export function closeSocketWith(socket: Duplex, error: ServiceError): void {
  socket.end(rawAnswer(randomUUID(), error));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
