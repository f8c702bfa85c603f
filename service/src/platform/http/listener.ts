// Opens the listener of an HTTP server, and closes it behind a load balancer. Does not load Fastify.
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, Server as TcpServer } from 'node:net';
import { waitAtMost } from '../concurrency/in-flight.ts';
import type { HttpServer } from './server.ts';

/** Addresses that mean "all interfaces" → the loopback address that reaches the listener. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the URL by which this process reaches its own listener. */
export async function listen(
  server: HttpServer,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<string> {
  await server.listen({ port, host });
  const { address, port: boundPort } = server.server.address() as AddressInfo;
  const reachable = LOOPBACK[address] ?? address;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${boundPort}`;
}

type CloseLimits = {
  /** For this time idle connections may send one more request. */
  readonly idleMs: number;
  /** Then requests in progress are cut off. */
  readonly requestsMs: number;
};

const CHECK_EVERY_MS = 50;

/**
 * Closes the listener, then idle connections, then requests that last too long.
 *
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
