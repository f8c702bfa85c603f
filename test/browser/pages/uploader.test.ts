// A page of another origin uploads with <mediary-uploader>: pauses, loses its network, is reloaded, and goes
// on with the same asset.
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContextOptions, CDPSession, Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paintPng } from '../../support/assets/replacements.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { openUpload, readAsset, storeImage } from '../../support/media.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { asService, call, startTestService, type TestService } from '../../support/service.ts';
import { serveUploaderPage } from './uploader-page.ts';

const MIB = 1024 * 1024;
const SIZE = 12 * MIB;
const FILM = 'film of عيد ميلاد 🎂.mp4';
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const SLOW = { timeout: 60_000 };

let pages: Awaited<ReturnType<typeof serveUploaderPage>>;
let service: TestService;
let browser: Browser;
beforeAll(async () => {
  pages = await serveUploaderPage();
  service = await startTestService({ CORS_ORIGINS: pages.origin, RESUMABLE_UPLOAD_BYTES: String(MIB) });
  pages.connect(service);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await pages?.close();
});

/** Two videos that take a while, and a text. */
async function makeFiles(): Promise<{ film: string; other: string; text: string }> {
  const clip = await readFile(await makeClip({ seconds: 1 }));
  const film = join(service.dataDir, FILM);
  const other = join(service.dataDir, 'other.mp4');
  const text = join(service.dataDir, 'notes.txt');
  for (const path of [film, other])
    await writeFile(path, Buffer.concat([clip, randomBytes(SIZE - clip.length)]));
  await writeFile(text, 'no picture');
  return { film, other, text };
}

/** What the page must not do: errors, violations of its policy. */
let faults: string[] = [];

async function openPage(options: BrowserContextOptions = { viewport: DESK }): Promise<Page> {
  faults = [];
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    // Requests without a network are logged as errors.
    if (message.type() === 'error' && !message.text().includes('ERR_')) faults.push(message.text());
  });
  await page.addInitScript(`globalThis.uploads = [];
    for (const name of ['start', 'uploaded', 'ready', 'error'])
    addEventListener('mediary-upload-' + name, ({ detail }) => {
      uploads.push([name, detail.filename, detail.assetId]);
    });`);
  await page.goto(pages.origin);
  return page;
}

const eventsOf = (page: Page) => page.evaluate<[string, string, string][]>('uploads');
const idOf = async (page: Page, filename: string, event = 'start') =>
  (await eventsOf(page)).find(([name, file]) => name === event && file === filename)?.[2];

const rowOf = (page: Page, name: string): Locator => page.locator('[part=row]', { hasText: name });
const percentOf = async (row: Locator) => Number(await row.locator('progress').getAttribute('value'));
const phaseOf = (row: Locator) => row.getAttribute('data-phase');

/** Zero until the picture is loaded. */
const THUMBNAIL_WIDTH = `{
  const { shadowRoot } = document.querySelector('#back-end');
  shadowRoot.querySelector('img')?.naturalWidth ?? 0;
}`;

/** A picture comes from the clipboard while a button of the uploader has the focus. */
const PASTE = `{
  const bytes = Uint8Array.from(atob('BASE64'), (character) => character.charCodeAt(0));
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
  const button = document.querySelector('#token').shadowRoot.querySelector('button');
  button.focus();
  const options = { clipboardData, bubbles: true, composed: true, cancelable: true };
  button.dispatchEvent(new ClipboardEvent('paste', options));
}`;

type Network = { readonly offline: boolean; readonly uploadThroughput: number };
const setNetwork = (session: CDPSession, network: Network) =>
  session.send('Network.emulateNetworkConditions', { latency: 0, downloadThroughput: -1, ...network });

async function expectNothingSerious(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`)).toEqual([]);
}

type Scene = {
  readonly page: Page;
  readonly session: CDPSession;
  readonly film: string;
  readonly other: string;
  readonly filmRow: Locator;
  readonly otherRow: Locator;
};
const SLOW_NETWORK = { offline: false, uploadThroughput: 2 * MIB };

/** Two videos are being sent, and a text is refused. */
async function startUploads(): Promise<Scene> {
  const { film, other, text } = await makeFiles();
  const page = await openPage();
  const session = await page.context().newCDPSession(page);
  await setNetwork(session, SLOW_NETWORK);
  await page.setInputFiles('#back-end input[name=files]', [film, other, text]);
  const refused = rowOf(page, 'notes.txt');
  await refused.getByText('“notes.txt” cannot be uploaded. Allowed: images and videos.').waitFor();
  const [filmRow, otherRow] = [rowOf(page, FILM), rowOf(page, 'other.mp4')];
  for (const row of [filmRow, otherRow]) await expect.poll(() => percentOf(row), SLOW).toBeGreaterThan(5);
  await filmRow.getByText(/B\/s · .* left/).waitFor();
  return { page, session, film, other, filmRow, otherRow };
}

async function pauseAndLoseNetwork({ session, filmRow, otherRow }: Scene): Promise<void> {
  await filmRow.getByRole('button', { name: `Pause: ${FILM}` }).click();
  expect(await phaseOf(filmRow)).toBe('paused');
  const before = await percentOf(filmRow);
  await expect.poll(() => percentOf(otherRow), SLOW).toBeGreaterThan(before + 5);
  expect(await percentOf(filmRow), 'a paused file sends nothing').toBe(before);
  await setNetwork(session, { ...SLOW_NETWORK, offline: true });
  await otherRow.getByText('No connection. It goes on by itself.').waitFor();
  await setNetwork(session, SLOW_NETWORK);
  await filmRow.getByRole('button', { name: `Resume: ${FILM}` }).click();
  await expect.poll(() => percentOf(filmRow), SLOW).toBeGreaterThan(before);
  await expect.poll(() => percentOf(otherRow), SLOW).toBeGreaterThan(60);
}

async function chooseAnotherFile({ page, other, filmRow }: Scene): Promise<void> {
  const choosing = page.waitForEvent('filechooser');
  await filmRow.getByRole('button', { name: `Choose the file: ${FILM}` }).click();
  await (await choosing).setFiles(other);
  await filmRow.getByText(`That is another file. Choose “${FILM}” as it was.`).waitFor();
}

test('two files survive a pause, a lost network and a reload, and become ready', async () => {
  const scene = await startUploads();
  const { page, session, film, other, filmRow, otherRow } = scene;
  await expectNothingSerious(page);
  await pauseAndLoseNetwork(scene);
  const ids = [await idOf(page, FILM), await idOf(page, 'other.mp4')];

  await page.setViewportSize(PHONE);
  await page.reload();
  await filmRow.getByText('Choose the file again to continue.').waitFor();
  expect(await percentOf(otherRow), 'the page remembers how far it was').toBeGreaterThan(60);
  await expectNothingSerious(page);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await chooseAnotherFile(scene);

  await setNetwork(session, { offline: false, uploadThroughput: -1 });
  await page.setInputFiles('#back-end input[name=files]', [film, other]);
  for (const row of [filmRow, otherRow]) await row.getByText('Ready').waitFor(SLOW);
  const ready = [await idOf(page, FILM, 'ready'), await idOf(page, 'other.mp4', 'ready')];
  expect(ready, 'the assets are those of the page before').toEqual(ids);
  await expect.poll(() => page.evaluate(THUMBNAIL_WIDTH), SLOW).toBeGreaterThan(0);
  expect(await page.evaluate('localStorage.length'), 'nothing is left to continue').toBe(0);
  const { size_bytes: size } = expectSuccess<{ size_bytes: number }>(
    await call(service, `GET /media/${ids[0]}`, { headers: asService }),
  );
  expect([size, faults]).toEqual([SIZE, []]);
  await page.context().close();
});

/** As an earlier page leaves it, while the service encodes what it has uploaded. */
async function rememberUploadOfOtherToken(page: Page): Promise<void> {
  const { asset_id: assetId } = await openUpload(service, 'eve');
  const identity = { name: 'earlier.png', size: 1, lastModified: 1 };
  const entry = { ...identity, assetId, bytesSent: 1, isUploaded: true, savedAt: Date.now() };
  const key = `mediary:uploader:${JSON.stringify([service.address, ''])}`;
  const [quotedKey, text] = [key, JSON.stringify([entry])].map((each) => JSON.stringify(each));
  await page.evaluate(`localStorage.setItem(${quotedKey}, ${text})`);
}

test('React shows an uploader with a token, which takes a pasted picture and refuses a GIF', async () => {
  const { token } = expectSuccess<{ token: string }>(
    await call(service, 'POST /upload-tokens', {
      headers: asService,
      json: { owner_user_id: 'eve', mime_types: ['image/png'], max_uploads: 2 },
    }),
  );
  const picture = await sharp({ create: { width: 64, height: 48, channels: 3, background: '#2a6f97' } })
    .png()
    .toBuffer();
  const page = await openPage({ viewport: PHONE, hasTouch: true, isMobile: true });
  await rememberUploadOfOtherToken(page);
  await page.evaluate(`page.showTokenUploader('${service.address}', '${token}')`);
  await page.locator('#token').getByText('Pictures').waitFor();
  await expect.poll(() => page.evaluate('localStorage.length'), SLOW).toBe(0);
  expect(await page.locator('#token [part=row]').count(), 'an upload of another token').toBe(0);
  await page.locator('#token').getByRole('button', { name: 'Take a photo' }).waitFor();
  expect(await page.locator('#token').getByRole('button', { name: 'Record' }).count()).toBe(0);
  await page.evaluate(PASTE.replace('BASE64', picture.toString('base64')));
  const row = page.locator('#token [part=row]', { hasText: 'pasted.png' });
  await row.getByText('Ready').waitFor(SLOW);
  expect(await page.evaluate('page.ready')).toEqual(['pasted.png']);
  await row.locator('canvas').waitFor();
  await expectNothingSerious(page);
  await page.setInputFiles('#token input[name=files]', {
    name: 'renamed.jpg',
    mimeType: 'image/jpeg',
    buffer: picture,
  });
  const renamed = page.locator('#token [part=row]', { hasText: 'renamed.jpg' });
  await renamed.getByText('The file is not of the type that its name says.').waitFor();
  expect(await idOf(page, 'renamed.jpg'), 'nothing is sent').toBeUndefined();
  const buffer = Buffer.from('GIF89a');
  await page.setInputFiles('#token input[name=files]', { name: 'a.gif', mimeType: 'image/gif', buffer });
  await page.locator('#token [part=error]').getByText('does not allow mime_type "image/gif"').waitFor();
  await page.setInputFiles('#token input[name=files]', { name: 'b.gif', mimeType: 'image/gif', buffer });
  await page.locator('#token [part=error]').getByText('“b.gif” cannot be uploaded. Allowed: PNG.').waitFor();
  // The refusal, and the thumbnail, which upload tokens cannot read.
  expect(faults.filter((fault) => !/status of 40[03]/.test(fault))).toEqual([]);
  await page.context().close();
});

test('a file takes the place of another one, which a page that is reloaded before sees too', async () => {
  const { id } = await storeImage(service, await paintPng(40, 64));
  const page = await openPage();
  await page.evaluate(`document.querySelector('#back-end').replaces = '${id}';
    addEventListener('mediary-upload-uploaded', () => (window.kept = JSON.stringify(localStorage)));`);
  const file = { name: 'new.png', mimeType: 'image/png', buffer: await paintPng(40, 80) };
  await page.setInputFiles('#back-end input[name=files]', file);
  await rowOf(page, 'new.png').getByText('Ready').waitFor(SLOW);
  expect(await idOf(page, 'new.png', 'ready')).toBe(id);
  expect(await readAsset(service, 'ann', id)).toMatchObject({ filename: 'new.png', width: 80 });
  await page.evaluate('Object.assign(localStorage, JSON.parse(kept))');
  await page.reload();
  await rowOf(page, 'new.png').getByText('Ready').waitFor(SLOW);
  expect(await idOf(page, 'new.png', 'ready')).toBe(id);
  await page.context().close();
});
