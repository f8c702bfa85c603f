// A proxy before a server that a test cuts off, as a network does that drops all packets.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type CutProxy = {
  readonly port: number;
  /** From now on connections open, as in the kernel's backlog, and no byte passes in either direction. */
  cut(): void;
  /** New connections pass again. Those of before stay silent, as after a firewall that forgot them. */
  heal(): void;
  close(): Promise<void>;
};

/** `path`: the Unix socket of the server. */
export async function startCutProxy(path: string): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => client.destroy());
    client.on('close', () => sockets.delete(client));
    if (isCut) return;
    const upstream = connect(path);
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
    upstream.on('close', () => {
      sockets.delete(upstream);
      client.destroy();
    });
    client.on('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    heal: () => {
      isCut = false;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
