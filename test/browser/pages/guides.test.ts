// The site of the documents, built as in an image: its policy refuses nothing of it, its search finds pages.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listPages, readPageGroups } from '../../../docs/.vitepress/pages.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const ROOT = join(import.meta.dirname, '../../..');
const pages = listPages(readPageGroups(ROOT));

let service: TestService;
let browser: Browser;
beforeAll(async () => {
  await promisify(execFile)('npm', ['run', 'docs:build'], { cwd: ROOT });
  [service, browser] = await Promise.all([startTestService({ MEDIARY_ROLE: 'api' }), launchChromium()]);
}, 400_000);
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

test('every document is a page, and Markdown', async () => {
  for (const { name } of pages) {
    const address = `${service.address}/docs/guides/${name}`;
    const page = await fetch(name === 'index' ? address.replace(/index$/, '') : address);
    expect([page.status, page.headers.get('content-type')], name).toEqual([200, 'text/html; charset=utf-8']);
    expect(await page.text(), name).toContain(`rel="alternate" type="text/markdown"`);
    const text = await (await fetch(`${address}.md`)).text();
    expect(text, name).toMatch(/^# .+\n/);
  }
  const list = await (await fetch(`${service.address}/llms.txt`)).text();
  for (const [, link = ''] of list.matchAll(/\]\(([^)]+)\)/g))
    expect((await fetch(link)).status, link).toBe(200);
});

/** The button of the search is called `Search`, and also shows its keys. */
async function findBarriers(page: Page): Promise<unknown[]> {
  const { violations } = await new AxeBuilder({ page }).exclude('.DocSearch-Button').analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

test('a reader finds a guide, in light and dark colours', async () => {
  // Colours change at once: in a transition, text has less contrast than before and after it.
  const context = await browser.newContext({ colorScheme: 'light', reducedMotion: 'reduce' });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => faults.push(message.text()));
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== service.address) faults.push(request.url());
  });
  await page.goto(`${service.address}/docs/guides/`);
  await page.locator('.VPSidebar').getByRole('link', { name: 'Captions' }).click();
  await page.getByRole('heading', { name: 'Captions', level: 1 }).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole('switch').first().click();
  await page.locator('html.dark').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.keyboard.press('Control+k');
  await page.locator('#localsearch-input').fill('broken connection resumable');
  await page.locator('#localsearch-list').getByText('Resumable uploads').first().click();
  await page.getByRole('heading', { name: 'Resumable uploads', level: 1 }).waitFor();
  expect(faults).toEqual([]);
  await page.getByRole('link', { name: 'API reference' }).first().click();
  await page.waitForURL(`${service.address}/docs/`);
  await context.close();
});

/** Parts of the page that are wider than the screen, blocks of code excepted, which scroll. */
const findWideParts = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`
    Array.from(document.querySelectorAll('.vp-doc :is(p, table, td, code, ul)'))
      .filter((part) => !part.closest('pre') && part.getBoundingClientRect().right > innerWidth)
      .map((part) => part.outerHTML.slice(0, 200))
  `);

test('a reader of the reference chooses the language of an example, also on a phone', async () => {
  const viewport = { width: 390, height: 844 };
  const context = await browser.newContext({ colorScheme: 'dark', reducedMotion: 'reduce', viewport });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => faults.push(message.text()));
  page.on('pageerror', ({ message }) => faults.push(message));
  await page.goto(`${service.address}/docs/guides/reference/uploads#createUpload`);
  await page.getByRole('heading', { name: 'Create an upload' }).waitFor();
  const tabs = page.locator('.vp-code-group').nth(1);
  await tabs.getByText('curl "$API/media/upload-url"').waitFor();
  await tabs.getByText('TypeScript', { exact: true }).click();
  await tabs.getByText('mediary.media.createUpload').waitFor();
  expect(await tabs.getByText('curl "$API/media/upload-url"').isVisible()).toBe(false);
  expect(await findBarriers(page)).toEqual([]);
  for (const { name } of pages.filter((each) => each.name.startsWith('reference'))) {
    await page.goto(`${service.address}/docs/guides/${name}`);
    expect(await findWideParts(page), name).toEqual([]);
  }
  expect(faults).toEqual([]);
  await context.close();
});
