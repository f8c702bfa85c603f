// A page of an application that uploads with Uppy in Chromium.
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { launchChromium } from '../support/playback/browser.ts';

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

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function listen<T extends Server>(server: T): Promise<T> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}
