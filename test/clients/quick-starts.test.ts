// The quick starts by their own text. A reader in an empty folder installs the packages as they are packed,
// and comes to an application that uploads, plays, and takes signed webhooks alone.
import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { createWebhookSecret, signWebhook } from '../../service/src/events/endpoints/webhook-signature.ts';
import { makeClip } from '../support/clips/clips.ts';
import { freePort } from '../support/http/free-port.ts';
import { launchChromium } from '../support/playback/browser.ts';
import { processesNaming } from '../support/service/traces.ts';
import { eventually, startTestService, type TestService } from '../support/service.ts';
import { openQuickStart, type QuickStartReader } from './quick-start-reader.ts';

const NEXT = 'docs/guides/quick-start-nextjs.md';
const NUXT = 'docs/guides/quick-start-nuxt.md';
const HONO = 'docs/guides/quick-start-hono.md';
const PYTHON = 'docs/guides/quick-start-python.md';
/** Of a page that a development server compiles, and of a video that is encoded beside it. */
const SLOW = { timeout: 120_000 };

let service: TestService;
let browser: Browser;
let folder: string;
let film: string;
const ports = new Map<string, number>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-quick-start-'));
  for (const document of [NEXT, NUXT, HONO, PYTHON]) ports.set(document, await freePort());
  const origins = Array.from(ports.values(), (port) => `http://localhost:${port}`);
  service = await startTestService({ CORS_ORIGINS: origins.join(','), LOG_LEVEL: 'error' });
  film = await makeClip({ seconds: 2, width: 320, height: 180 });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const openReader = (
  document: string,
  options: { readonly needsOf?: string; readonly hasNuxt?: boolean } = {},
): Promise<QuickStartReader> =>
  openQuickStart(document, { folder, address: service.address, port: ports.get(document) ?? 0, ...options });

/** The status of a webhook that is signed with another secret. */
async function sendForged({ origin }: QuickStartReader): Promise<number> {
  const asset = { id: '01a22707-95d1-72f4-94e3-d04e46d9ed2a', filename: 'forged.mp4' };
  const event = { id: '1', type: 'asset.ready', asset_id: asset.id, owner_user_id: 'ann', asset };
  const body = JSON.stringify(event);
  const headers = signWebhook({ id: event.id, at: new Date(), body }, [createWebhookSecret()]);
  return (await fetch(`${origin}/webhooks/media`, { method: 'POST', body, headers })).status;
}

/** Opens the page as soon as the server listens. */
async function openPage({ origin }: QuickStartReader): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(SLOW.timeout);
  const isOpen = () =>
    fetch(origin).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(isOpen, (open) => open);
  await page.goto(origin);
  return page;
}

async function uploadAndPlay(page: Page): Promise<void> {
  await page.locator('mediary-uploader input[name=files]').setInputFiles(film);
  await play(page);
}

async function play(page: Page): Promise<void> {
  await page.waitForSelector('mediary-player');
  await page.evaluate("document.querySelector('mediary-player').play()");
  await page.waitForFunction("document.querySelector('mediary-player').media?.currentTime > 0");
}

test.concurrent('Next.js', async ({ expect, onTestFinished }) => {
  const reader = await openReader(NEXT, { needsOf: '@mediary/testing' });
  onTestFinished(reader.end);
  await reader.run('Before you start');
  await reader.run('Create the application');
  await reader.run('Upload and play');
  const page = await openPage(reader);
  await uploadAndPlay(page);
  const poster = 'document.querySelector("a img")';
  await page.waitForFunction(`${poster}?.naturalWidth > 0`);
  expect(await page.evaluate(`${poster}.currentSrc`)).toMatch(/^http:.*\/image\?.*w=\d+/);
  expect(await sendForged(reader)).toBe(401);
  await page.close();
  await reader.end();
  expect(await reader.run('Lose a webhook')).toContain('1 passed');
  expect(reader.unread()).toEqual([]);
  await eventually(
    () => processesNaming(reader.folder),
    (left) => left.length === 0,
    { withinMs: 20_000 },
  );
});

test.concurrent('Nuxt', async ({ expect, onTestFinished }) => {
  const reader = await openReader(NUXT, { hasNuxt: true });
  onTestFinished(reader.end);
  await reader.run('Before you start');
  await reader.run('Create the application');
  await reader.run('Upload and play');
  const page = await openPage(reader);
  await uploadAndPlay(page);
  expect(await sendForged(reader)).toBe(401);
  const video = '/api/videos/01a22707-95d1-72f4-94e3-d04e46d9ed2a';
  expect((await fetch(`${reader.origin}${video}`)).status, 'a video that no webhook has reported').toBe(404);
  await page.close();
  expect(reader.unread()).toEqual([]);
});

test.concurrent('Hono and plain HTML', async ({ expect, onTestFinished }) => {
  const reader = await openReader(HONO);
  onTestFinished(reader.end);
  await reader.run('Before you start');
  await reader.run('Create the server');
  expect(await reader.run('Upload and play'), 'a webhook without a signature').toContain('401');
  const page = await openPage(reader);
  await uploadAndPlay(page);
  expect(await sendForged(reader)).toBe(401);
  await page.close();
  expect(reader.unread()).toEqual([]);
});

test.concurrent('Python', async ({ expect, onTestFinished }) => {
  const python = spawnSync('python3', ['--version'], { encoding: 'utf8' });
  expect(python.stdout, 'python3 is missing. Debian: apt-get install python3').toMatch(/^Python 3/);
  const reader = await openReader(PYTHON);
  onTestFinished(reader.end);
  await copyFile(film, join(reader.folder, 'film.mp4'));
  await reader.run('Before you start');
  expect(await reader.run('Receive webhooks'), 'a webhook without a signature').toContain('401');
  expect(await sendForged(reader)).toBe(401);
  const [, embed = ''] = /^page with a player: (.+)$/m.exec(await reader.run('Upload and play')) ?? [];
  await eventually(
    async () => reader.printed(),
    (printed) => /^ready: [\w-]{36}$/m.test(printed),
  );
  const page = await browser.newPage();
  page.setDefaultTimeout(SLOW.timeout);
  await page.goto(embed);
  await play(page);
  await page.close();
  expect(reader.unread()).toEqual([]);
});
