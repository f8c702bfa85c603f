// A proxy that breaks its connections when a test wants it.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands before a server, and breaks all its connections when it has passed on so many bytes. */
export type BreakingProxy = {
  readonly origin: string;
  /** Bytes from the browser. */
  readonly passed: () => number;
  /** Resolves when connections broke after `bytes` more bytes; new ones are accepted at once. */
  breakAfter(bytes: number): Promise<void>;
  close(): void;
};

/** `port` is read for each connection. */
export async function startBreakingProxy(port: number | (() => number)): Promise<BreakingProxy> {
  const sockets = new Set<Socket>();
  let passed = 0;
  let planned: { readonly at: number; readonly broken: () => void } | undefined;
  const count = (chunk: Buffer) => {
    passed += chunk.length;
    if (!planned || passed < planned.at) return;
    for (const socket of sockets) socket.destroy();
    planned.broken();
    planned = undefined;
  };
  const server = createServer((client) => {
    const upstream = connect(typeof port === 'number' ? port : port(), '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    client.on('data', count);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed: () => passed,
    breakAfter: (bytes) =>
      new Promise((broken) => {
        planned = { at: passed + bytes, broken };
      }),
    close: () => server.close(),
  };
}
