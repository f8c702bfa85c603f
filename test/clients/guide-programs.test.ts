// The programs of the guides with the packages that they name: the page that uploads and plays, EventSource,
// tus-js-client, and Uppy 4, 5 and 6.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../support/playback/browser.ts';
import { placeAtLines, readCodeBlocks } from '../support/http/code-blocks.ts';
import { askUpload } from '../support/providers/hosted.ts';
import { IMAGE, offer } from '../support/media.ts';
import { bombPng } from '../support/clips/pictures.ts';
import { eventually, SECRETS, tokenOf } from '../support/service.ts';
import { type DocumentFixtures, startDocumentFixtures } from './document-fixtures.ts';
import { openGuidePage } from './guide-page.ts';

const PAGE = 'docs/guides/upload-from-a-browser.md';
const EVENTS = 'docs/guides/live-events.md';
const RESUMABLE = 'docs/guides/resumable-uploads.md';
const HOSTED = 'docs/guides/hosted-uploads.md';
const GUIDES = [PAGE, EVENTS, RESUMABLE, HOSTED];

let fixtures: DocumentFixtures;
let browser: Browser;
let children: readonly ChildProcess[] = [];
beforeAll(async () => {
  fixtures = await startDocumentFixtures(GUIDES);
  for (const block of GUIDES.flatMap(readCodeBlocks))
    if (block.marker?.name === 'file') await write(block.document, block.marker.value, placeAtLines([block]));
  browser = await launchChromium();
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(async () => {
  for (const child of children) child.kill();
  await browser?.close();
  await fixtures?.stop();
});

const fileIn = (document: string, name: string): string => join(fixtures.folderOf(document), name);

function write(document: string, name: string, text: string): Promise<void> {
  return writeFile(fileIn(document, name), fixtures.replaceAddresses(document, text));
}

function start(document: string, args: readonly string[], env: object = {}): ChildProcess {
  const child = spawn(process.execPath, args, {
    cwd: fixtures.folderOf(document),
    env: { ...fixtures.environment, API: fixtures.hosts.service.url, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children = [...children, child];
  return child;
}

/** `const opened = …` of the programs is there before they are evaluated. */
const run = (page: Page): Promise<unknown> => page.addScriptTag({ url: '/page.js', type: 'module' });

test('the page of a guide uploads a video and plays it with its own hls.js', async () => {
  start(PAGE, ['server.ts'], { KEY: SECRETS.SERVICE_API_KEY });
  const page = await browser.newPage();
  const foreign: string[] = [];
  const known = [fixtures.originOf(PAGE), fixtures.hosts.service.address, 'blob:'];
  page.on('request', (request) => {
    if (!known.some((origin) => request.url().startsWith(origin))) foreign.push(request.url());
  });
  const isOpen = () => page.goto(fixtures.originOf(PAGE)).catch(() => null);
  await eventually(isOpen, (response) => response?.status() === 200);
  await page.setInputFiles('input', fixtures.sample);
  await page.waitForFunction("document.querySelector('video').readyState > 0", undefined, {
    timeout: 30_000,
  });
  await page.evaluate("document.querySelector('video').play()");
  await page.waitForFunction("document.querySelector('video').currentTime > 0", undefined, {
    timeout: 30_000,
  });
  expect(await page.textContent('p')).toBe('Ready');
  expect(foreign).toEqual([]);
});

const UPPY_PACKAGES = ['core', 'tus', 'xhr-upload', 'golden-retriever'];
const aliasesOf = (version: number): Record<string, string> =>
  version === 6
    ? {}
    : Object.fromEntries(UPPY_PACKAGES.map((name) => [`@uppy/${name}`, `uppy-${version}-${name}`]));

/** Versions differ in where Golden Retriever stores the state of files. */
const areAssetsStored = `async () => {
  const done = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
  let text = localStorage.getItem('uppyState:uppy') ?? '';
  for (const { name } of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name));
    for (const store of database.objectStoreNames)
      text += JSON.stringify(await done(database.transaction(store).objectStore(store).getAll()));
    database.close();
  }
  return (text.match(/assetId/g) ?? []).length >= 2;
}`;

describe.each([4, 5, 6])('Uppy %i', (version) => {
  async function openUppy(entry: string) {
    const opened = await openGuidePage(browser, fixtures.hosts.service, {
      folder: fixtures.folderOf(RESUMABLE),
      origin: fixtures.originOf(RESUMABLE),
      entry: `${entry}\nglobalThis.uppy = uppy;`,
      aliases: aliasesOf(version),
    });
    await load(opened.page);
    return opened;
  }
  async function load(page: Page): Promise<void> {
    await run(page);
    await page.waitForFunction('globalThis.uppy');
  }
  async function addFiles(page: Page): Promise<void> {
    const bytes = await readFile(fixtures.sample);
    const files = ['one.mp4', 'two.mp4'].map((name) => ({ name, mimeType: 'video/mp4', buffer: bytes }));
    await page.setInputFiles('input', files);
    await page.evaluate(
      `for (const file of document.querySelector('input').files)
         uppy.addFile({ name: file.name, type: file.type, data: file })`,
    );
  }
  const areCompleted = (completed: ReadonlyMap<string, number>) =>
    eventually(
      async () => [...completed.values()],
      (statuses) => statuses.length === 2,
      { withinMs: 20_000 },
    );

  test('uploads two files by XHR', async () => {
    const { page, backEnd } = await openUppy("import { uppy } from './uppy-xhr.ts';");
    await addFiles(page);
    expect(await page.evaluate('uppy.upload().then(({ successful }) => successful.length)')).toBe(2);
    expect(await areCompleted(backEnd.completed)).toEqual([200, 200]);
  });

  test('continues two files by tus after a reload of the page', async () => {
    const { page, backEnd } = await openUppy(
      "import { uppy } from './uppy-tus.ts';\nimport './golden-retriever.ts';",
    );
    let isCut = true;
    await page.route('**/tus/**', (route) =>
      isCut && route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    );
    await addFiles(page);
    await page.evaluate('void uppy.upload()');
    await eventually(() => page.evaluate<boolean>(`(${areAssetsStored})()`), Boolean, { withinMs: 20_000 });
    await page.reload();
    isCut = false;
    await load(page);
    await page.waitForFunction('uppy.getFiles().filter(({ data }) => data?.size > 0).length === 2');
    await page.evaluate("void uppy.emit('restore-confirmed')");
    expect(await areCompleted(backEnd.completed)).toEqual([200, 200]);
    expect(backEnd.opened, 'no second upload is opened').toHaveLength(2);
  });
});

describe('a program with tus-js-client or a form', () => {
  async function upload(document: string, program: string, opened: object): Promise<number[]> {
    const { page, backEnd } = await openGuidePage(browser, fixtures.hosts.service, {
      folder: fixtures.folderOf(document),
      origin: fixtures.originOf(document),
      entry: `import './${program}';`,
    });
    await page.setInputFiles('input', fixtures.sample);
    await page.evaluate(
      `Object.assign(globalThis, {
         opened: ${JSON.stringify(opened)},
         file: document.querySelector('input').files[0],
       })`,
    );
    await run(page);
    const statuses = await eventually(
      async () => [...backEnd.completed.values()],
      (found) => found.length === 1,
      { withinMs: 20_000 },
    );
    return statuses;
  }
  const describeSample = async () => ({
    filename: 'sample.mp4',
    mime_type: 'video/mp4',
    size_bytes: (await readFile(fixtures.sample)).length,
  });

  test.each(['upload-by-tus.ts', 'upload-in-parts.ts'])('uploads to the service: %s', async (program) => {
    const { body } = await askUpload(fixtures.hosts.service, 'cdnhost', {
      ...(await describeSample()),
      provider: 'onprem',
    });
    expect(await upload(RESUMABLE, program, body.data)).toEqual([200]);
  });
  test.each([
    ['cdnhost', 'upload-by-tus.ts'],
    ['edgehost', 'upload-by-form.ts'],
  ] as const)('uploads to %s', async (provider, program) => {
    const { body } = await askUpload(fixtures.hosts.service, provider, await describeSample());
    expect(await upload(HOSTED, program, body.data)).toEqual([200]);
  });
});

test('EventSource 3, 4 and 5 receive events with the header of the guide', async () => {
  const code = await readFile(fileIn(EVENTS, 'follow-assets.ts'), 'utf8');
  await write(
    EVENTS,
    'run.mjs',
    `Object.assign(globalThis, { API: process.env.API, getToken: async () => process.env.TOKEN,
       showAsset: ({ id }) => process.stdout.write(id) });
     await import(process.argv[2]);`,
  );
  const shown = new Map<string, string>();
  for (const name of ['eventsource-3', 'eventsource-4', 'eventsource']) {
    await write(EVENTS, `${name}.ts`, code.replace("from 'eventsource'", `from '${name}'`));
    start(EVENTS, ['run.mjs', `./${name}.ts`], { TOKEN: tokenOf('ann') }).stdout?.on('data', (id) =>
      shown.set(name, String(id)),
    );
  }
  await eventually(
    () => offer(fixtures.hosts.service, 'ann', { bytes: bombPng(8, 8), fields: IMAGE }),
    () => shown.size === 3,
  );
});
