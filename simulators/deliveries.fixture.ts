// For tests: a Mediary that only listens, and keeps every webhook that it is sent.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Received = { readonly path: string; readonly headers: NodeJS.Dict<string | string[]>; readonly body: string };
export type Listener = { readonly url: string; readonly received: Received[]; readonly stop: () => Promise<void> };

export async function startListener(): Promise<Listener> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({ path: request.url ?? '', headers: request.headers, body: await text(request) });
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
