// Closes an HTTP server behind a load balancer: the listener, then idle connections, then long requests.
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as TcpServer } from 'node:net';
import { waitAtMost } from '../concurrency/in-flight.ts';

type CloseLimits = {
  /** For this time idle connections may send one more request. */
  readonly idleMs: number;
  /** Then requests in progress are cut off. */
  readonly requestsMs: number;
};

const CHECK_EVERY_MS = 50;

/**
 * A proxy that cannot connect uses another process. A proxy whose request crosses the closing of an idle
 * connection cannot know whether to repeat it, so idle connections close after their next response.
 */
export async function closeServer(server: Server, { idleMs, requestsMs }: CloseLimits): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
  // Closes the listener only: close() of an HTTP server would also close idle connections.
  TcpServer.prototype.close.call(server);
  await waitAtMost(idleMs, closed);
  server.closeIdleConnections();
  const idleCheck = setInterval(() => server.closeIdleConnections(), CHECK_EVERY_MS);
  await waitAtMost(requestsMs, closed);
  clearInterval(idleCheck);
  server.closeAllConnections();
  await closed;
}
