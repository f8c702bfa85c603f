// An editor keeps collections in the console: creates one, fills it from assets, orders and publishes it.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readOrder } from '../../support/assets/collections.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { IMAGE, offer, settled } from '../../support/media.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { expectSound, openConsole } from '../../support/playback/console-page.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let browser: Browser;
let assets: string[];
beforeAll(async () => {
  service = await startTestService();
  browser = await launchChromium();
  const bytes = await makeSmallPng();
  assets = [];
  for (const title of ['First', 'Second', 'مرحبا بالعالم'.repeat(8)]) {
    const { id } = await offer(service, 'ann', { bytes, fields: { ...IMAGE, title } });
    await settled(service, 'ann', id);
    assets.push(id);
  }
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });

/** Returns its id. */
async function createCollection(page: Page, name: string): Promise<string> {
  await page.getByRole('link', { name: 'Collections', exact: true }).click();
  await page.getByRole('searchbox', { name: 'Owner' }).fill('ann');
  await button(page, 'Create a collection').click();
  await page.getByLabel('Name').fill(name);
  await button(page, 'Create').click();
  await page.getByRole('heading', { name }).waitFor();
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

async function addFromItsPage(page: Page, assetId: string, name: string): Promise<void> {
  await page.goto(`${service.address}/console/assets/${assetId}`);
  await page.getByLabel('Collection', { exact: true }).and(page.locator('input')).click();
  await page.getByRole('option', { name }).click();
  await button(page, 'Add').click();
  await page.getByRole('link', { name, exact: true }).waitFor();
}

/** Gives it another name and a description, and publishes it. Returns the name. */
async function edit(page: Page, name: string): Promise<string> {
  const renamed = `${name}, and after`;
  await button(page, 'Edit').click();
  const dialog = page.getByRole('dialog', { name: 'Edit the collection' });
  await dialog.getByLabel('Name').fill(renamed);
  await dialog.getByLabel('Description').fill('All talks, in order');
  await dialog.getByRole('switch', { name: /^Public/ }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('heading', { name: renamed, exact: true }).waitFor();
  await page.getByText('All talks, in order').waitFor();
  await page.getByText('public', { exact: true }).first().waitFor();
  return renamed;
}

test.each(['desk', 'phone'] as const)('collections on a %s', async (size) => {
  const opened = await openConsole({ browser, service }, size, size === 'desk' ? 'light' : 'dark');
  const { page } = opened;
  const name = `Launch week on a ${size}`;
  if (size === 'phone') await button(page, 'Navigation').click();
  const id = await createCollection(page, name);
  await page.getByText('No assets in it').waitFor();
  for (const assetId of assets) await addFromItsPage(page, assetId, name);
  await expectSound(opened);

  const [a = '', b = '', c = ''] = assets;
  const collection = { service, user: 'ann', id };
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('list', { name: 'Assets of the collection' }).waitFor();
  expect(await readOrder(collection)).toEqual([a, b, c]);
  // By the keyboard alone.
  await button(page, 'Move Second up').press('Enter');
  await expect.poll(() => readOrder(collection)).toEqual([b, a, c]);
  const first = page.getByRole('listitem').first();
  await first.getByRole('link', { name: 'Second' }).waitFor();
  await expect.poll(() => button(page, 'Move Second down').getAttribute('aria-disabled')).toBe('false');
  expect(await button(page, 'Move Second up').getAttribute('aria-disabled')).toBe('true');
  await button(page, 'Move Second down').press('Enter');
  await expect.poll(() => readOrder(collection)).toEqual([a, b, c]);
  await expectSound(opened);
  await button(page, 'Remove First').click();
  await expect.poll(() => readOrder(collection)).toEqual([b, c]);
  const renamed = await edit(page, name);
  await expectSound(opened);

  await page.getByRole('main').getByRole('link', { name: 'Collections', exact: true }).click();
  await page.getByText(renamed).waitFor();
  await expectSound(opened);
  await page.getByText(renamed).click();
  await button(page, `Delete ${renamed}`).click();
  await button(page, 'Delete the collection').click();
  await page.getByRole('heading', { name: 'Collections', exact: true }).waitFor();
  await expect.poll(() => page.getByText(renamed).count()).toBe(0);
  await page.context().close();
});
