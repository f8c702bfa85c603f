// An HTTP server on loopback that serves files as real servers do: with ETags and ranges, redirects, cuts and
// pauses.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

type FileRequest = { readonly path: string; readonly headers: IncomingMessage['headers'] };
type FileHandler = (request: IncomingMessage, response: ServerResponse) => unknown;

export type FileServer = {
  readonly url: string;
  readonly requests: readonly FileRequest[];
  /** Serves a path from now on; returns its URL. */
  serve(path: string, handler: FileHandler): string;
  requestsOf(path: string): readonly FileRequest[];
  stop(): Promise<void>;
};

export async function startFileServer(): Promise<FileServer> {
  const requests: FileRequest[] = [];
  const handlers = new Map<string, FileHandler>();
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    requests.push({ path, headers: request.headers });
    (handlers.get(path) ?? status(404))(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    serve: (path, handler) => {
      handlers.set(path, handler);
      return `${url}${path}`;
    },
    requestsOf: (path) => requests.filter((request) => request.path === path),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const status =
  (code: number): FileHandler =>
  (_request, response) =>
    response.writeHead(code).end('nothing here');

export const redirectTo =
  (location: string): FileHandler =>
  (_request, response) =>
    response.writeHead(302, { location }).end();

/** The whole file, or the range that continues it. */
export const file =
  (bytes: Buffer, headers: Readonly<Record<string, string>> = {}): FileHandler =>
  (request, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    response.writeHead(start > 0 ? 206 : 200, {
      ...headers,
      'content-length': bytes.length - start,
      ...(start > 0 && { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
    });
    response.end(bytes.subarray(start));
  };

/** The handlers in turn; the last one answers every further request. */
export function inTurn(...handlers: readonly FileHandler[]): FileHandler {
  let turn = 0;
  return (request, response) => {
    handlers[Math.min(turn, handlers.length - 1)]?.(request, response);
    turn += 1;
  };
}

/** Declares the whole file and closes the connection in the middle. */
export const cutAt =
  (bytes: Buffer, length: number, headers: Readonly<Record<string, string>> = {}): FileHandler =>
  (_request, response) => {
    response.writeHead(200, { ...headers, 'content-length': bytes.length });
    response.write(bytes.subarray(0, length), () => setImmediate(() => response.destroy()));
  };

/** The whole file in parts, one after another. */
export const paced =
  (bytes: Buffer, { parts, everyMs }: { readonly parts: number; readonly everyMs: number }): FileHandler =>
  async (_request, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    const size = Math.ceil(bytes.length / parts);
    for (let start = 0; start < bytes.length; start += size) {
      response.write(bytes.subarray(start, start + size));
      await setTimeout(everyMs);
    }
    response.end();
  };

type HeldFile = {
  readonly handler: FileHandler;
  /** Resolves when a client has taken the first part and waits. */
  readonly waiting: Promise<void>;
  /** Resolves when the client has closed the connection. */
  readonly closed: Promise<void>;
};

/** Sends the first part of the file, and never the rest. */
export function holdAt(
  bytes: Buffer,
  length: number,
  headers: Readonly<Record<string, string>> = {},
): HeldFile {
  const waiting = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const handler: FileHandler = (_request, response) => {
    response.writeHead(200, { ...headers, 'content-length': bytes.length });
    response.write(bytes.subarray(0, length), () => waiting.resolve());
    response.once('close', () => closed.resolve());
  };
  return { handler, waiting: waiting.promise, closed: closed.promise };
}
