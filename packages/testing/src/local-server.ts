// A server on a free port of 127.0.0.1, which does not keep the process of the tests alive.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type LocalServer = { readonly url: string; stop(): Promise<void> };
type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A handler that fails closes its connection. */
export async function startLocalServer(handle: Handle): Promise<LocalServer> {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  server.on('connection', (socket) => socket.unref());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
