// A page in Chromium that runs programs of a guide, with the back end that they call.
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import type { Started } from '../support/media.ts';
import { asUser, call, type TestService } from '../support/service.ts';

type GuideProgram = {
  /** Where the program is; the page bundles it. */
  readonly folder: string;
  /** Of the page. */
  readonly origin: string;
  /** Source text. */
  readonly entry: string;
  /** Packages to take instead of those that the program names. */
  readonly aliases?: Readonly<Record<string, string>>;
};

type BackEnd = {
  /** Ids of assets, in the order in which the page asked for them. */
  readonly opened: readonly string[];
  /** Status of `POST /media/{id}/complete` by asset. */
  readonly completed: ReadonlyMap<string, number>;
  open(details: object): Promise<Started>;
};

/** Users are ann. */
export async function openGuidePage(
  browser: Browser,
  service: TestService,
  { folder, origin, entry, aliases = {} }: GuideProgram,
): Promise<{ page: Page; backEnd: BackEnd }> {
  const code = await bundle(folder, entry, aliases);
  const page = await browser.newPage();
  const backEnd = createBackEnd(service);
  await page.exposeFunction('openUpload', backEnd.open);
  await page.exposeFunction('completeUpload', backEnd.complete);
  await page.addInitScript(`Object.assign(globalThis, {
    API: ${JSON.stringify(service.url)}, showProgress() {}, showError(error) { throw error; } });`);
  const server = await servePage(origin, code);
  page.once('close', () => server.close());
  await page.goto(origin);
  return { page, backEnd };
}

async function bundle(
  folder: string,
  entry: string,
  alias: Readonly<Record<string, string>>,
): Promise<string> {
  const input = join(folder, 'page.ts');
  await writeFile(input, entry);
  const bundled = await rolldown({ input, platform: 'browser', resolve: { alias } });
  const { output } = await bundled.generate({ format: 'esm' });
  return output[0].code;
}

async function servePage(origin: string, code: string): Promise<Server> {
  const server = createServer(({ url }, response) => {
    const isScript = url === '/page.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(
      isScript ? code : '<!doctype html><link rel="icon" href="data:,"><input type="file" multiple>',
    );
  });
  const { hostname, port } = new URL(origin);
  await new Promise<void>((resolve) => {
    server.listen(Number(port), hostname, resolve);
  });
  return server;
}

function createBackEnd(service: TestService) {
  const opened: string[] = [];
  const completed = new Map<string, number>();
  const open = async (details: object): Promise<Started> => {
    const { body } = await call<Started>(service, 'POST /media/upload-url', {
      headers: asUser('ann'),
      json: { content_type: 'video', ...details },
    });
    opened.push(body.data.asset_id);
    return body.data;
  };
  const complete = async (id: string): Promise<void> => {
    const { status } = await call(service, `POST /media/${id}/complete`, { headers: asUser('ann') });
    completed.set(id, status);
  };
  return { opened, completed, open, complete };
}
