// A newcomer opens the sign-in link, drops files, watches them play, finds them again and restores one.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload } from '../../support/media.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { signInAs, signOut } from '../../support/playback/console-page.ts';
import { asOperator, asUser, call, startTestService, type TestService } from '../../support/service.ts';

const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;
const SLOW = { timeout: 60_000 };

let service: TestService;
let browser: Browser;
beforeAll(async () => {
  service = await startTestService({ VIDEO_EXTRAS: 'none' });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

/** A video, and a picture with this name. */
async function makeFiles(name: string): Promise<string[]> {
  const picture = join(service.dataDir, name);
  const blue = { width: 640, height: 360, channels: 3, background: '#2a6f97' } as const;
  await writeFile(picture, await sharp({ create: blue }).png().toBuffer());
  return [await makeClip({ seconds: 3, width: 320, height: 180 }), picture];
}

/** What a page must not do: errors, other hosts, violations of its policy. */
let faults: string[] = [];
beforeEach(() => {
  faults = [];
});

async function openPage(size: keyof typeof SIZES, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZES[size], colorScheme });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== service.address) faults.push(request.url());
  });
  return page;
}

async function signIn(page: Page): Promise<void> {
  const { url } = expectSuccess<{ url: string }>(
    await call(service, 'POST /admin/console-links', { headers: asOperator }),
  );
  await page.goto(url);
  await page.getByRole('heading', { name: 'Upload' }).waitFor();
}

/** Plays the video of the embed page in the console, for a moment at least. */
async function playEmbedded(page: Page): Promise<void> {
  const frame = await (await page.waitForSelector('iframe.player-frame', SLOW)).contentFrame();
  if (!frame) throw new Error('the page has no frame with a player');
  // The page's policy forbids `eval`, which waitForFunction may call.
  await expect
    .poll(() => frame.evaluate('customElements.get("mediary-player") !== undefined'), SLOW)
    .toBe(true);
  await frame.evaluate('document.querySelector("mediary-player").play()');
  await expect
    .poll(() => frame.evaluate('document.querySelector("mediary-player").media?.currentTime ?? 0'), SLOW)
    .toBeGreaterThan(0.3);
}

/** Without serious findings of axe, sideways scrolling or faults. */
async function expectSound(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).disableRules(['color-contrast-enhanced']).analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  expect(isWide).toBe(false);
  expect(faults).toEqual([]);
}

test('the counts of the states lead to their assets', async () => {
  const { asset_id: id } = await openUpload(service, 'una', { ...IMAGE, title: 'On its way' });
  const page = await openPage('phone', 'dark');
  await signIn(page);
  await page.goto(`${service.address}/console/library`);
  const states = page.getByRole('navigation', { name: 'States' });
  await states.getByRole('link', { name: /^\d+ waiting for bytes$/ }).click(SLOW);
  await page.waitForURL(/\/library\?stream_status=pending_upload$/);
  await page.getByText('On its way').waitFor(SLOW);
  expect(await states.locator('[aria-current]').textContent()).toMatch(/ waiting for bytes$/);
  await expectSound(page);
  await call(service, `DELETE /media/${id}`, { headers: asUser('una') });
  await page.context().close();
});

describe.each(['desk', 'phone'] as const)('on a %s', (size) => {
  test('two files are dropped, play, are found, thrown away and restored', async () => {
    const page = await openPage(size, size === 'phone' ? 'dark' : 'light');
    await signIn(page);
    expect(page.url()).not.toContain('code=');
    await expectSound(page);

    await page.getByLabel('Files to upload').setInputFiles(await makeFiles(`${size} 🌊.png`));
    await page.locator('iframe.player-frame').waitFor(SLOW);
    await page.locator('.picture-large').waitFor(SLOW);
    await playEmbedded(page);
    await expectSound(page);

    await page.getByRole('link', { name: 'Show the library' }).click();
    await page.getByLabel('Search', { exact: true }).fill(`${size} 🌊`);
    await expect.poll(() => page.locator('.tile').count(), SLOW).toBe(1);
    expect(page.url()).toContain(`q=${size}`);
    await expectSound(page);

    await page.locator('.tile').click();
    await page.getByText('All bytes are stored.').waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Move to the trash' }).click();
    await page.getByText('In the trash').first().waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('No asset matches').waitFor();
    await page.getByRole('button', { name: 'Clear all filters' }).click();
    await page.getByText(`${size} 🌊`).first().waitFor();
    await expectSound(page);
    await page.context().close();
  });
});

test('tags find the assets that have all of them, in the chosen order, which the address keeps', async () => {
  for (const [title, tags] of [
    ['Canal', ['spring']],
    ['avenue', ['spring', 'berlin']],
    ['Bridge', ['berlin']],
  ] as const)
    await openUpload(service, 'tia', { ...IMAGE, title, tags });
  const page = await openPage('desk');
  await signIn(page);
  await page.goto(`${service.address}/console/library?owner=tia`);
  const count = () => page.locator('.tile').count();
  await expect.poll(count, SLOW).toBe(3);
  const names = () => page.locator('.tile-name').allInnerTexts();
  expect(await names()).toEqual(['Bridge', 'avenue', 'Canal']);
  await page.getByRole('combobox', { name: 'Order' }).click();
  await page.getByRole('option', { name: 'Title A–Z' }).click();
  await expect.poll(names, SLOW).toEqual(['avenue', 'Bridge', 'Canal']);
  const tags = page.getByRole('combobox', { name: 'Tags' });
  for (const [tag, found] of [
    ['spring', 2],
    ['berlin', 1],
  ] as const) {
    await tags.fill(tag);
    await tags.press('Enter');
    await expect.poll(count, SLOW).toBe(found);
  }
  expect(page.url()).toContain('tag=spring&tag=berlin');
  expect(page.url()).toContain('sort=title');
  await expectSound(page);
  await page.reload();
  await expect.poll(count, SLOW).toBe(1);
  await tags.press('Backspace');
  await expect.poll(count, SLOW).toBe(2);
  await expectSound(page);
  await page.context().close();
});

test('a visitor without a session is asked for a key, and a wrong one is refused in words', async () => {
  const page = await openPage('phone');
  await page.goto(`${service.address}/`);
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  await expectSound(page);
  await page.getByLabel('Operator key').and(page.locator('input[type=password]')).fill('x'.repeat(40));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The operator key is not valid').waitFor();
  await page.context().close();
});

test('a user sees the own library alone, signs in again after a session ended, and signs out', async () => {
  await openUpload(service, 'ben', { title: '<img src=x onerror=alert(1)>' });
  await openUpload(service, 'cleo', { title: 'Not for Ben' });
  const page = await openPage('desk');
  await page.goto(`${service.address}/console/library`);
  await signInAs(page, 'ben');
  await page.getByText('<img src=x onerror=alert(1)>').waitFor();
  expect(await page.getByText('Not for Ben').count()).toBe(0);
  expect(await page.getByText('Your session has ended').count()).toBe(0);
  await page.context().clearCookies();
  await page.getByRole('searchbox', { name: 'Search' }).fill('img');
  await page.getByText('Your session has ended. Sign in again to go on where you were.').waitFor();
  faults = faults.filter((fault) => !fault.includes('401'));
  await signInAs(page, 'ben');
  await page.getByText('<img src=x onerror=alert(1)>').waitFor();
  expect(page.url()).toContain('/console/library?q=img');
  await signOut(page);
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
