// A reverse proxy on loopback that does to requests and responses what misconfigured proxies do.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

type ProxyFaults = {
  /** Removed from the start of each path. */
  readonly stripPrefix?: string;
  /** A longer announced body is refused. */
  readonly maxBodyBytes?: number;
  readonly buffersRequests?: boolean;
  readonly buffersResponses?: boolean;
  /** Lower-case names of headers that are not passed on, in both directions. */
  readonly droppedHeaders?: readonly string[];
};

export type FaultyProxy = {
  readonly url: string;
  /** The base URL of the service behind it. */
  upstream: string;
  faults: ProxyFaults;
  stop(): Promise<void>;
};

export async function startFaultyProxy(): Promise<FaultyProxy> {
  const server = createServer((request, response) => {
    pass(proxy, request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    upstream: '',
    faults: {},
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

async function pass(
  { faults, upstream }: FaultyProxy,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { stripPrefix = '', maxBodyBytes = Number.POSITIVE_INFINITY } = faults;
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
    request.resume();
    response.writeHead(413, { 'content-type': 'text/html' }).end('<h1>413</h1>');
    return;
  }
  const path = request.url?.startsWith(stripPrefix) ? request.url.slice(stripPrefix.length) : request.url;
  const body = faults.buffersRequests ? await buffer(request) : request;
  const forwarded = sendRequest(`${upstream}${path}`, {
    method: request.method ?? 'GET',
    headers: { ...kept(request, faults), 'x-forwarded-for': request.socket.remoteAddress ?? '' },
  });
  if (Buffer.isBuffer(body)) forwarded.end(body);
  else body.pipe(forwarded);
  request.once('close', () => request.complete || forwarded.destroy());
  const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
  forwarded.on('error', () => response.destroy());
  const whole = faults.buffersResponses ? await buffer(answer) : undefined;
  response.writeHead(answer.statusCode ?? 500, kept(answer, faults));
  if (whole) response.end(whole);
  else answer.pipe(response);
}

const kept = ({ headers }: IncomingMessage, { droppedHeaders = [] }: ProxyFaults) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !droppedHeaders.includes(name)));
