// A page of an application that uploads with Uppy in Chromium, and a proxy that breaks its connections.
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { launchChromium } from '../support/browser.ts';

type UploadResult = { readonly uploaded: number; readonly errors: readonly string[] };

export type UppyPage = {
  readonly origin: string;
  /** The user opens the page in a tab, again if it is open, and chooses the file. */
  open(file: string): Promise<void>;
  upload(target: object): Promise<UploadResult>;
  close(): Promise<void>;
};

export async function openUppyPage(): Promise<UppyPage> {
  const server = await servePage();
  let browser: Browser | undefined;
  let page: Page | undefined;
  return {
    origin: originOf(server),
    open: async (file) => {
      browser ??= await launchChromium();
      page ??= await browser.newPage();
      await page.goto(originOf(server));
      await page.setInputFiles('input', file);
    },
    upload: async (target) => {
      if (!page) throw new Error('the page is not open');
      return page.evaluate<UploadResult>(`upload(${JSON.stringify(target)})`);
    },
    close: async () => {
      await browser?.close();
      server.close();
    },
  };
}

/** Serves the page from another origin than the service. */
async function servePage(): Promise<HttpServer> {
  const bundle = await rolldown({ input: join(import.meta.dirname, 'programs/uppy.ts') });
  const { output } = await bundle.generate({ format: 'iife' });
  const html =
    '<!doctype html><link rel="icon" href="data:,"><input type="file"><script src="/page.js"></script>';
  return listen(
    createHttpServer(({ url }, response) => {
      const isScript = url === '/page.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? output[0].code : html);
    }),
  );
}

/** Stands before a server, and breaks all its connections when it has passed on so many bytes. */
export type BreakingProxy = {
  readonly origin: string;
  /** Bytes from the browser. */
  readonly passed: () => number;
  /** Resolves when connections broke after `bytes` more bytes; new ones are accepted at once. */
  breakAfter(bytes: number): Promise<void>;
  close(): void;
};

export async function startBreakingProxy(port: number): Promise<BreakingProxy> {
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
  const server = await listen(
    createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
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
    }),
  );
  return {
    origin: originOf(server),
    passed: () => passed,
    breakAfter: (bytes) =>
      new Promise((broken) => {
        planned = { at: passed + bytes, broken };
      }),
    close: () => server.close(),
  };
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function listen<T extends Server>(server: T): Promise<T> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}
