// A server that answers as a test tells it, and remembers the requests.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type ReceivedRequest = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};
type Handler = (request: ReceivedRequest, response: ServerResponse) => void;

export type ApiServer = {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** Forgets the requests so far. */
  handle(handler: Handler): void;
  close(): Promise<void>;
};

export async function startApiServer(): Promise<ApiServer> {
  const requests: ReceivedRequest[] = [];
  let handler: Handler = (_request, response) => response.destroy();
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: Buffer.concat(chunks) };
    requests.push(request);
    handler(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    handle: (next) => {
      requests.length = 0;
      handler = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

export const answer = (
  response: ServerResponse,
  data: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ success: true, message: 'ok', code: 200, data, request_id: 'r-1' }));
};

type Refusal = { readonly status: number; readonly code: string; readonly details?: object };

export const refuse = (
  response: ServerResponse,
  { status, code, details }: Refusal,
  headers: Record<string, string> = {},
): void => {
  const error = { error_code: code, details: details ?? null };
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(
    JSON.stringify({ success: false, message: `No: ${code}.`, code: status, error, request_id: 'r-2' }),
  );
};

export const openEvents = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(':\n\n');
};

export const writeEvent = (response: ServerResponse, position: string, event: object): void => {
  response.write(`id: ${position}\nevent: asset.updated\ndata: ${JSON.stringify(event)}\n\n`);
};
