// Uppy in Chromium uploads a large file through broken connections, kills of the service and a reload of the
// page.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { asUser, call, newDataDir } from '../support/service.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service-process.ts';

const MIB = 1024 * 1024;
/** No multiple of any buffer, batch or segment. */
const SIZE = 160 * MIB + 12_345;
const CUTS = 10;
const KILLS = 3;
/** After each of so many bytes, something breaks. */
const STEP = Math.floor(SIZE / (CUTS + KILLS + 2));

let dataDir: string;
let folder: string;
let file: string;
let digest: string;
let service: ServiceProcess;
let proxy: BreakingProxy;
let pages: HttpServer;
let browser: Browser;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-uppy-'));
  file = join(folder, 'film.mp4');
  const bytes = Buffer.concat(Array.from({ length: SIZE / MIB + 1 }, () => randomBytes(MIB))).subarray(
    0,
    SIZE,
  );
  digest = createHash('sha256').update(bytes).digest('hex');
  await writeFile(file, bytes);
  pages = await servePage();
  dataDir = await newDataDir();
  const port = await freePort();
  proxy = await startBreakingProxy(port);
  environment = {
    DATA_DIR: dataDir,
    PORT: String(port),
    PUBLIC_BASE_URL: originOf(proxy.server),
    CORS_ORIGINS: originOf(pages),
    LOG_LEVEL: 'error',
  };
  service = await startProcess(environment);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  pages?.close();
  proxy?.server.close();
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  for (const path of [dataDir, folder]) await rm(path, { recursive: true, force: true, maxRetries: 5 });
});

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function listen<T extends Server>(server: T): Promise<T> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

/** Serves the page of an application, from another origin than the service. */
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

/** Stands before the service, and breaks all its connections when it has passed on so many bytes. */
type BreakingProxy = {
  readonly server: Server;
  /** Bytes from the browser. */
  readonly passed: () => number;
  /** Resolves when connections broke after `bytes` more bytes; new ones are accepted at once. */
  breakAfter(bytes: number): Promise<void>;
};

async function startBreakingProxy(port: number): Promise<BreakingProxy> {
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
  });
  return {
    server: await listen(server),
    passed: () => passed,
    breakAfter: (bytes) =>
      new Promise((broken) => {
        planned = { at: passed + bytes, broken };
      }),
  };
}

type UploadResult = { readonly uploaded: number; readonly errors: readonly string[] };

/** The user opens the page, and chooses the file. */
async function openPage(page: Page): Promise<void> {
  await page.goto(originOf(pages));
  await page.setInputFiles('input', file);
}

const upload = (page: Page, target: object): Promise<UploadResult> =>
  page.evaluate<UploadResult>(`upload(${JSON.stringify(target)})`);

test('every byte arrives once, and the file is stored as it was sent', async () => {
  const { body } = await call<{ asset_id: string; upload: { protocol: string } }>(
    service,
    'POST /media/upload-url',
    {
      headers: asUser('ann'),
      json: { filename: 'film.mp4', content_type: 'video', mime_type: 'video/mp4', size_bytes: SIZE },
    },
  );
  const { asset_id: id, upload: target } = body.data;
  expect(target.protocol).toBe('tus');
  const page = await (await browser.newContext()).newPage();
  await openPage(page);
  const interrupted = upload(page, target).catch(() => undefined);
  for (let cut = 0; cut < CUTS; cut += 1) await proxy.breakAfter(STEP);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await proxy.breakAfter(STEP);
    await service.end('SIGKILL');
    service = await startProcess(environment);
  }

  await openPage(page);
  expect(await interrupted, 'the page was left before its upload ended').toBeUndefined();
  const passedBefore = proxy.passed();
  expect(await upload(page, target)).toEqual({ uploaded: 1, errors: [] });
  expect(proxy.passed() - passedBefore, 'the new page sends only the rest').toBeLessThan(SIZE);

  const asset = await call(service, `GET /media/${id}`, { headers: asUser('ann') });
  expect(asset.body.data).toMatchObject({ size_bytes: SIZE, checksum_sha256: digest });
});
