// Forms of the asset editor: what people type stays, while it is saved and before it is a valid number.
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { openConsole } from '../../support/playback/console-page.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let browser: Browser;
let video: AssetJson;
beforeAll(async () => {
  service = await startTestService({ VIDEO_EXTRAS: 'none' });
  const file = await makeClip({ seconds: 3, width: 320, height: 180 });
  [browser, video] = await Promise.all([launchChromium(), ingest(service, 'ann', { file })]);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

async function openAsset(): Promise<Page> {
  const { page } = await openConsole({ browser, service }, 'desk', 'light');
  await page.goto(`${service.address}/console/assets/${video.id}`);
  return page;
}

test('what is written while the service saves is neither lost nor saved', async () => {
  const page = await openAsset();
  const { promise: saving, resolve: hold } = Promise.withResolvers<Route>();
  const isAsset = ({ pathname }: URL): boolean => pathname.endsWith(`/media/${video.id}`);
  await page.route(isAsset, async (route) => {
    if (route.request().method() === 'PATCH') hold(route);
    else await route.continue();
  });
  const title = page.getByLabel('Title');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await title.fill('First');
  await save.click();
  const held = await saving;
  await title.fill('Second');
  await held.continue();
  await page.unroute(isAsset);
  await page.getByRole('heading', { name: 'First' }).waitFor();
  expect(await title.inputValue()).toBe('Second');
  await save.click();
  await page.getByRole('heading', { name: 'Second' }).waitFor();
  await page.getByText('Saved.').waitFor();
  await page.context().close();
});

test('an end of a clip may be typed digit by digit, and is in range when the field is left', async () => {
  const page = await openAsset();
  await page.getByRole('tab', { name: 'Clip' }).click();
  const start = page.getByRole('textbox', { name: 'Start (s)' });
  await start.fill('2');
  const end = page.getByRole('textbox', { name: 'End (s)' });
  await end.fill('');
  // The first digit alone is not after the start.
  await end.pressSequentially('2.8');
  expect(await end.inputValue()).toBe('2.8');
  await start.fill('9');
  await end.fill('3');
  await end.blur();
  expect(await start.inputValue()).toBe('2.3');
  await page.context().close();
});
