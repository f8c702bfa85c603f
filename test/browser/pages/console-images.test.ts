// An editor sets the focal point of an image in the console: by a click, by the keyboard, and back; then who
// may see the image. A video that no player can show links to its manifest.
import { join } from 'node:path';
import type { Browser, Page, Route } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, openUpload, readAsset, storeImage } from '../../support/media.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { expectSound, openConsole, signOut } from '../../support/playback/console-page.ts';
import { linkVideo, PROCESSED, READY, tell } from '../../support/providers/webhooks.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

/** Pictures load, and the service works, beside other tests. */
const SLOW = { timeout: 60_000 };

let service: TestService;
let browser: Browser;
let image: AssetJson;
beforeAll(async () => {
  service = await startTestService();
  const mark = await sharp({ create: { width: 120, height: 120, channels: 3, background: '#d33' } })
    .png()
    .toBuffer();
  const bytes = await sharp({ create: { width: 1600, height: 900, channels: 3, background: '#2a6f97' } })
    .composite([{ input: mark, left: 100, top: 600 }])
    .png()
    .toBuffer();
  [browser, image] = await Promise.all([launchChromium(), storeImage(service, bytes)]);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

const storedPoint = async () => (await readAsset(service, 'ann', image.id))['focal_point'];
const positionOf = (page: Page, crop: string): Promise<string> =>
  page.evaluate(`getComputedStyle(document.querySelector('[alt="The crop ${crop}"]')).objectPosition`);

async function clickAt(page: Page, { x, y }: { readonly x: number; readonly y: number }): Promise<void> {
  const box = await page.locator('.point-pad').boundingBox();
  if (!box) throw new Error('the picture is not in view');
  await page.mouse.click(box.x + x * box.width, box.y + y * box.height);
}

test.each([
  ['desk', 'light'],
  ['phone', 'dark'],
] as const)('the focal point is set, seen in crops and unset: %s, %s', async (size, scheme) => {
  const opened = await openConsole({ browser, service }, size, scheme);
  const { page } = opened;
  await page.goto(`${service.address}/console/assets/${image.id}`);
  await page.getByRole('tab', { name: 'Crop' }).click();
  await page.getByText('Crops keep the center.').waitFor();
  const picture = page.locator('.point-pad img');
  await expect
    .poll(() => page.evaluate('document.querySelector(".point-pad img").naturalWidth'), SLOW)
    .toBe(1280);
  await picture.scrollIntoViewIfNeeded();
  expect(await positionOf(page, '1:1')).toBe('50% 50%');
  for (const [crop, ratio] of Object.entries({ '1:1': 1, '16:9': 16 / 9, '9:16': 9 / 16 })) {
    const box = await page.getByAltText(`The crop ${crop}`).boundingBox();
    expect((box?.width ?? 0) / (box?.height ?? 1)).toBeCloseTo(ratio, 1);
  }

  await clickAt(page, { x: 0.1, y: 0.7 });
  expect(await positionOf(page, '1:1')).toBe('0% 50%');
  const mark = page.getByRole('slider', { name: 'Focal point' });
  await mark.focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'Shift+ArrowUp']) await page.keyboard.press(key);
  expect(await mark.getAttribute('aria-valuetext')).toBe('12 % from the left, 60 % from the top');
  await expectSound(opened);
  await page.getByRole('button', { name: 'Save the focal point' }).click();
  await page.getByText('Crops keep the point at 12 % from the left and 60 % from the top.').waitFor();
  const { x, y } = (await storedPoint()) as { x: number; y: number };
  // A click hits whole pixels of the screen.
  expect([x, y]).toEqual([expect.closeTo(0.12, 2), expect.closeTo(0.6, 2)]);
  await expectSound(opened);

  await expect
    .poll(() => page.getByRole('region', { name: 'the URL' }).textContent())
    .toContain(`-${Math.round(1000 * x)}x${Math.round(1000 * y)}&w=256&h=256&fit=cover`);
  await page.getByRole('button', { name: 'Use the center' }).click();
  await page.getByText('Crops keep the center.').waitFor();
  expect(await storedPoint()).toBeNull();
  expect(await positionOf(page, '9:16')).toBe('50% 50%');
  await page.context().close();
});

test('access rules are set on a phone, and the console still shows the image', async () => {
  const opened = await openConsole({ browser, service }, 'phone', 'light');
  const { page } = opened;
  await page.goto(`${service.address}/console/assets/${image.id}`);
  await page.getByRole('tab', { name: 'Access' }).click();
  for (const [label, value] of Object.entries({ Sites: 'www.Example.com', Networks: '127.0.0.1' })) {
    await page.getByLabel(label).first().fill(value);
    await page.keyboard.press('Enter');
  }
  await page.getByRole('switch', { name: 'Downloads' }).press('Space');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved.').waitFor();
  await page.getByText('on www.example.com; from 127.0.0.1/32; no downloads').waitFor();
  expect((await readAsset(service, 'ann', image.id))['access']).toEqual({
    referrers: ['www.example.com'],
    networks: ['127.0.0.1/32'],
    downloads: false,
  });
  await page.reload();
  await page.getByRole('tab', { name: 'Crop' }).click();
  await expect
    .poll(() => page.evaluate('document.querySelector(".point-pad img").naturalWidth'), SLOW)
    .toBe(1280);
  await expectSound(opened);
  await page.context().close();
});

async function chooseNewFile(page: Page, path: string): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a new file' }).click();
  await (await chooser).setFiles(path);
}

/** The network is gone while the bytes are sent: the page says so, and takes the same file again. */
async function interruptReplacement(page: Page, path: string): Promise<void> {
  const { promise: sending, resolve: hold } = Promise.withResolvers<Route>();
  let isHeld = false;
  await page.route('**/api/v1/**', async (route) => {
    if (route.request().method() !== 'PUT') return route.continue();
    if (isHeld) return route.abort();
    isHeld = true;
    return hold(route);
  });
  await chooseNewFile(page, path);
  const held = await sending;
  await page.getByText('Waits for its bytes').waitFor();
  await page.getByRole('progressbar', { name: 'Sent' }).waitFor({ state: 'attached' });
  await held.abort();
  await page.getByText('The service does not answer').waitFor();
  await page.unroute('**/api/v1/**');
  await page.getByText('Choose the same file to send the rest.').waitFor();
}

test('a new file is chosen, shown in place of the old one, and the old one comes back', async () => {
  const opened = await openConsole({ browser, service }, 'desk', 'light');
  const { page } = opened;
  const shownWidth = () => page.evaluate('document.querySelector("main img").naturalWidth');
  const square = await sharp({ create: { width: 700, height: 700, channels: 3, background: '#383' } })
    .png()
    .toBuffer();
  const { id } = await storeImage(service, square, { title: 'The logo', filename: 'square.png' });
  await page.goto(`${service.address}/console/assets/${id}`);
  await page.getByRole('tab', { name: 'File' }).click();
  await page.getByText('square.png').first().waitFor();
  const wide = join(service.dataDir, 'wide.png');
  await sharp({ create: { width: 500, height: 250, channels: 3, background: '#338' } }).toFile(wide);
  await interruptReplacement(page, wide);
  expect(opened.faults.splice(0).join()).toContain('ERR_');
  await chooseNewFile(page, wide);
  await page.getByText(/^The time to bring it back ends/).waitFor();
  await expect.poll(shownWidth, SLOW).toBe(500);
  expect(await readAsset(service, 'ann', id)).toMatchObject({ filename: 'wide.png', title: 'The logo' });
  await expectSound(opened);
  await page.getByRole('button', { name: 'Bring it back' }).click();
  await expect.poll(shownWidth, SLOW).toBe(700);
  expect(await readAsset(service, 'ann', id)).toMatchObject({ filename: 'square.png' });
  await expectSound(opened);
  await page.context().close();
});

test('a replacement that is not wanted any more ends its upload, and the file stays', async () => {
  const opened = await openConsole({ browser, service }, 'desk', 'light');
  const { page } = opened;
  const small = await sharp({ create: { width: 60, height: 60, channels: 3, background: '#383' } })
    .png()
    .toBuffer();
  const { id } = await storeImage(service, small, { filename: 'kept.png' });
  await page.goto(`${service.address}/console/assets/${id}`);
  await page.getByRole('tab', { name: 'File' }).click();
  // The bytes never arrive.
  await page.route('**/api/v1/**', async (route) => {
    if (route.request().method() !== 'PUT') await route.continue();
  });
  const unwanted = join(service.dataDir, 'unwanted.png');
  await sharp({ create: { width: 50, height: 25, channels: 3, background: '#338' } }).toFile(unwanted);
  await chooseNewFile(page, unwanted);
  await page.getByText('Waits for its bytes').waitFor();
  await page.getByRole('button', { name: 'Keep the current file' }).click();
  await page.getByText('The upload was cancelled. The asset keeps its current file.').waitFor();
  await page.getByText('Waits for its bytes').waitFor({ state: 'detached' });
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await page.getByText('unwanted.png').count()).toBe(0);
  await expectSound(opened);
  expect(await readAsset(service, 'ann', id)).toMatchObject({ filename: 'kept.png' });
  await page.unroute('**/api/v1/**');
  await chooseNewFile(page, unwanted);
  await page.getByText(/^The time to bring it back ends/).waitFor();
  expect(await page.getByText('The upload was cancelled.').count()).toBe(0);
  await page.context().close();
});

test('a video without HLS links to its manifest in place of a player', async () => {
  const { asset_id: id } = await linkVideo(service, { provider: 'edgehost', provider_video_id: 'uid-dash' });
  const dash = 'https://other.example/a.mpd';
  expect(await tell(service, 'edgehost', { ...READY.edgehost('uid-dash'), playback: { dash } })).toEqual(
    PROCESSED,
  );
  const opened = await openConsole({ browser, service }, 'desk', 'light');
  const { page } = opened;
  await page.goto(`${service.address}/console/assets/${id}`);
  const link = page.getByRole('link', { name: 'Open its DASH manifest' });
  expect(await link.getAttribute('href')).toBe(dash);
  expect(await page.locator('.player-frame').count()).toBe(0);
  await expectSound(opened);
  await page.context().close();
});

test('a page whose asset was deleted elsewhere shows that alone, and asks no more', async () => {
  const { asset_id: id } = await openUpload(service, 'ann', { title: 'Soon gone' });
  const { page } = await openConsole({ browser, service }, 'desk', 'light');
  await page.goto(`${service.address}/console/assets/${id}`);
  await page.getByRole('heading', { name: 'Soon gone' }).waitFor();
  await page.getByRole('heading', { name: 'Edit' }).waitFor();
  expectSuccess(await call(service, `DELETE /media/${id}`, { headers: asUser('ann') }));
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Edit' }).count()).toBe(0);
  await page.context().close();
});

test('a sign-out ends the upload of a replacement', async () => {
  const { page } = await openConsole({ browser, service }, 'desk', 'light');
  const picture = join(service.dataDir, 'of-the-first-person.png');
  const red = { width: 50, height: 25, channels: 3, background: '#833' } as const;
  const bytes = await sharp({ create: red }).png().toBuffer();
  const { id } = await storeImage(service, bytes, { filename: 'stays.png' });
  await sharp(bytes).toFile(picture);
  await page.goto(`${service.address}/console/assets/${id}`);
  await page.getByRole('tab', { name: 'File' }).click();
  // The bytes never arrive.
  await page.route('**/api/v1/**', async (route) => {
    if (route.request().method() !== 'PUT') await route.continue();
  });
  const sent = page.waitForRequest((request) => request.method() === 'PUT');
  await chooseNewFile(page, picture);
  const ended = page.waitForEvent('requestfailed', (request) => request.method() === 'PUT');
  await sent;
  await signOut(page);
  await ended;
  await page.context().close();
});
