// An HTTP server on loopback that writes each response byte by byte, so that responses can be wrong in every
// way.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export type RawRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What has arrived of the body. */
  readonly body: string;
};

/** Writes the response to the socket; the socket stays open until the script ends it. */
export type RawScript = (socket: Socket, request: RawRequest) => void;

export type RawServer = {
  readonly port: number;
  readonly requests: readonly RawRequest[];
  connections(): number;
  stop(): Promise<void>;
};

export async function startRawServer(
  script: RawScript,
  certificate?: { readonly key: string; readonly cert: string },
): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const onRequest = (socket: Socket, text: string) => {
    const request = parse(text);
    requests.push(request);
    script(socket, request);
  };
  const accept = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    readHead(socket, onRequest);
  };
  const server: Server = certificate ? createTlsServer(certificate, accept) : createServer(accept);
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => connections,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function readHead(socket: Socket, onRequest: (socket: Socket, text: string) => void): void {
  let text = '';
  // The client is expected to reset connections.
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const isRead = text.includes('\r\n\r\n');
    text += chunk.toString('latin1');
    if (!isRead && text.includes('\r\n\r\n')) onRequest(socket, text);
  });
}

function parse(text: string): RawRequest {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [line = '', ...lines] = head.split('\r\n');
  const [method = '', path = ''] = line.split(' ');
  const pairs = lines.map((field) => {
    const [name = '', ...value] = field.split(': ');
    return [name.toLowerCase(), value.join(': ')];
  });
  return { method, path, headers: Object.fromEntries(pairs), body };
}

/** The head of a response; `headers` are written as they are. */
export const renderHead = (status: number, headers: Readonly<Record<string, string | number>> = {}): string =>
  `HTTP/1.1 ${status} X\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
