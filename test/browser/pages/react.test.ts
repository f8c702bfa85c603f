// The React components of the elements: props that go, and flags of players that are mounted later.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paintPng } from '../../support/assets/replacements.ts';
import { readAsset, storeImage } from '../../support/media.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { serveUploaderPage } from './uploader-page.ts';

const SLOW = { timeout: 60_000 };

let pages: Awaited<ReturnType<typeof serveUploaderPage>>;
let service: TestService;
let browser: Browser;
beforeAll(async () => {
  pages = await serveUploaderPage();
  service = await startTestService({ CORS_ORIGINS: pages.origin });
  pages.connect(service);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await pages?.close();
});

/** `faults` grows while the page is open. */
async function openPage(path: string): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const page = await (await browser.newContext()).newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.addInitScript(`globalThis.readyIds = [];
    addEventListener('mediary-upload-ready', ({ detail }) => readyIds.push(detail.assetId));`);
  await page.goto(`${pages.origin}${path}`);
  return { page, faults };
}

/** Without a name, nothing is rendered. */
const renderReact = (page: Page, name?: string, props: object = {}) =>
  page.evaluate(`page.render(${JSON.stringify(name)}, ${JSON.stringify(props)})`);

const propertiesOf = <Name extends string>(page: Page, selector: string, names: readonly Name[]) =>
  page.evaluate<Record<Name, unknown> | null>(`{
    const element = document.querySelector('${selector}');
    element && Object.fromEntries(${JSON.stringify(names)}.map((name) => [name, element[name] ?? null]));
  }`);

test('a prop that React no longer sets has its default again, and the next file is a new asset', async () => {
  const { id } = await storeImage(service, await paintPng(40, 64));
  const { page, faults } = await openPage('/');
  const props = { id: 'token', endpoint: '/uploads?album=7' };
  const set = { replaces: id, disabled: true, tags: ['old'], accept: 'video/*', concurrency: 1 };
  const names = ['replaces', 'disabled', 'tags', 'accept', 'concurrency'] as const;
  await renderReact(page, 'MediaryUploader', { ...props, ...set });
  await expect.poll(() => propertiesOf(page, '#token', names), SLOW).toEqual(set);
  await renderReact(page, 'MediaryUploader', props);
  await expect
    .poll(() => propertiesOf(page, '#token', names), SLOW)
    .toMatchObject({
      replaces: null,
      disabled: false,
      tags: null,
      accept: expect.stringContaining('image/*'),
      concurrency: 2,
    });
  const file = { name: 'another.png', mimeType: 'image/png', buffer: await paintPng(40, 96) };
  await page.setInputFiles('#token input[name=files]', file);
  await page.locator('#token [part=status]').getByText('Ready').waitFor(SLOW);
  const [created = ''] = await page.evaluate<string[]>('readyIds');
  expect(created).not.toBe(id);
  expect(await readAsset(service, 'ann', created)).toMatchObject({ tags: [] });
  expect(await readAsset(service, 'ann', id)).toMatchObject({ width: 64 });
  expect(faults).toEqual([]);
  await page.context().close();
});

test('every player that React shows has its flags, also after the element is defined', async () => {
  const { page, faults } = await openPage('/player');
  const flags = ['autoplay', 'muted', 'loop'] as const;
  const expectFlags = (expected: object) =>
    expect.poll(() => propertiesOf(page, 'mediary-player', flags), SLOW).toEqual(expected);
  const props = { id: 'react-player', autoplay: true, muted: true, loop: true };
  await renderReact(page, 'MediaryPlayer', props);
  await expectFlags({ autoplay: true, muted: true, loop: true });
  await renderReact(page);
  await expect.poll(() => page.locator('mediary-player').count(), SLOW).toBe(0);
  await renderReact(page, 'MediaryPlayer', props);
  await expectFlags({ autoplay: true, muted: true, loop: true });
  await renderReact(page, 'MediaryPlayer', { ...props, muted: false });
  await expectFlags({ autoplay: true, muted: false, loop: true });
  await renderReact(page, 'MediaryPlayer', props);
  await expectFlags({ autoplay: true, muted: true, loop: true });
  expect(faults).toEqual([]);
  await page.context().close();
});
