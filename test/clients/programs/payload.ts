// Serves the REST API of Payload with a configuration, and prints its origin: payload.ts <file>
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { handleEndpoints } from 'payload';

const { default: config } = await import(pathToFileURL(process.argv[2] ?? '').href);

const server = createServer(async (incoming, outgoing) => {
  const { method = 'GET', url = '/', headers } = incoming;
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const request = new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: headers as Record<string, string>,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }),
  });
  const response = await handleEndpoints({ config, request });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
});
server.listen(0, '127.0.0.1', () => {
  console.log(`origin: http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
