// <mediary-player> in Chromium, in a page of another origin than the service, with a strict policy.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTwoLanguageClip } from '../../support/clips/two-languages.ts';
import { ingest } from '../../support/media.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

const SLOW = { timeout: 120_000 };
const SECONDS = 12;
const LABEL = '<img src=x onerror=alert(1)>';
const FIRST_TITLE = 'Good <b>morning</b> & "hello"';
const CHAPTERS = [
  { start_ms: 0, title: FIRST_TITLE },
  { start_ms: 8000, title: 'Good night' },
];
const CAPTIONS = 'WEBVTT\n\n00:00.000 --> 00:12.000\nGood morning\n';

let service: TestService;
let browser: Browser;
let site: Server;
let id: string;
beforeAll(async () => {
  service = await startTestService({ VIDEO_EXTRAS: 'storyboard' });
  browser = await launchChromium();
  site = createServer(async ({ url }, response) => {
    if (url === '/token') return response.end(await createPlaybackToken());
    response.setHeader('content-type', url === '/page.js' ? 'text/javascript' : 'text/html');
    response.setHeader('content-security-policy', POLICY());
    return response.end(url === '/page.js' ? SCRIPT : PAGE());
  });
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve);
  });
  ({ id } = await ingest(service, 'ann', { file: await makeTwoLanguageClip(SECONDS) }));
  await call(service, `PUT /media/${id}/captions/en?label=${encodeURIComponent(LABEL)}`, {
    headers: { ...asUser('ann'), 'content-type': 'text/vtt' },
    body: CAPTIONS,
  });
  await call(service, `PATCH /media/${id}`, { headers: asUser('ann'), json: { chapters: CHAPTERS } });
  await eventually(
    () => readPlayback(),
    ({ storyboard }) => storyboard !== null,
  );
});
afterAll(async () => {
  await browser.close();
  site.close();
  await service.stop();
});

/** Everything from the service, and neither inline styles nor inline scripts. */
const POLICY = (): string =>
  [
    "default-src 'none'",
    `script-src 'self' ${service.address}`,
    `connect-src 'self' ${service.address}`,
    `img-src 'self' ${service.address}`,
    `media-src ${service.address} blob: data:`,
  ].join('; ');

const PAGE = (): string => `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>Player</title><main><h1>Player</h1>
<mediary-player asset="${id}" base-url="${service.address}" label="Forest"></mediary-player></main>
<script type="module" src="/page.js"></script>
<script type="module" src="${service.address}/api/v1/playback/elements/latest/player.js"></script>`;

/** Counts the tokens that the player asks for, and keeps the errors that it reports. */
const SCRIPT = `
const player = document.querySelector('mediary-player');
window.tokens = 0;
window.failures = [];
player.addEventListener('playererror', ({ detail }) => window.failures.push(detail.code));
player.tokenProvider = async () => {
  window.tokens += 1;
  return (await fetch('/token')).text();
};`;

type PlaybackJson = { readonly hls: string; readonly storyboard: string | null };
const readPlayback = async (): Promise<PlaybackJson> =>
  (await call<PlaybackJson>(service, `GET /media/${id}/playback`, { headers: asUser('ann') })).body.data;
const createPlaybackToken = async (): Promise<string> =>
  /\/~([^/]+)\//.exec((await readPlayback()).hls)?.[1] ?? '';

const PLAYER = 'document.querySelector("mediary-player")';
const readMedia = <T>(page: Page, member: string): Promise<T> =>
  page.evaluate<T>(`${PLAYER}.media?.${member}`);
const readCaptions = (page: Page): Promise<string[]> =>
  page.evaluate(
    `[...${PLAYER}.media.textTracks].filter(({ mode }) => mode === 'showing').map(({ label }) => label)`,
  );

async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(serious.map(({ id: rule, nodes }) => [rule, nodes.map(({ html }) => html)])).toEqual([]);
}

/** Opens the menu of settings, and chooses `choice` in the part `part`. */
async function choose(page: Page, part: string, choice: string): Promise<void> {
  await page.locator('media-settings-menu-button').click();
  await page.locator('media-settings-menu-item').filter({ hasText: part }).click();
  await page.getByRole('menuitemradio', { name: choice }).filter({ visible: true }).click();
  await closeMenus(page);
}

/** The part first, then the menu of parts. */
async function closeMenus(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.locator('media-settings-menu').waitFor({ state: 'hidden' });
}

type OpenedPage = {
  readonly page: Page;
  /** Both grow while the page is open. */
  readonly faults: string[];
  readonly hosts: Set<string>;
};

/** `aheadMs`: how much the clock of the viewer is ahead. */
async function openPage(aheadMs = 0): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 900, height: 700 } });
  await context.addInitScript(`const now = Date.now; Date.now = () => now() + ${aheadMs};`);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', ({ message }) => faults.push(message));
  const hosts = new Set<string>();
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`, { waitUntil: 'networkidle' });
  return { page, faults, hosts };
}

/** Pauses by the keyboard, and shows captions, which the browser remembers. */
async function showCaptions(page: Page): Promise<void> {
  await page.keyboard.press('k');
  expect(await readMedia(page, 'paused')).toBe(true);
  await page.keyboard.press('c');
  await eventually(
    () => readCaptions(page),
    (labels) => labels.length === 1 && labels[0] === LABEL,
  );
  await eventually(
    () => page.evaluate<string | null>('localStorage.getItem("mediary-player-captions")'),
    (language) => language === 'en',
  );
}

/** The name of a chapter is text, over the seek bar and in the menu. */
async function seekByChapter(page: Page): Promise<void> {
  await page.locator('media-time-range').hover({ position: { x: 40, y: 10 } });
  await page.locator('media-preview-chapter-display[slot]').filter({ hasText: FIRST_TITLE }).waitFor();
  await choose(page, 'Chapters', 'Good night');
  await eventually(
    () => readMedia<number>(page, 'currentTime'),
    (seconds) => seconds >= 8 && seconds < 12,
  );
  await page.locator('media-settings-menu-button').click();
  await page.locator('media-settings-menu-item').filter({ hasText: 'Chapters' }).click();
  const current = page.getByRole('menuitemradio', { checked: true }).filter({ visible: true });
  await current.filter({ hasText: 'Good night' }).waitFor();
  await closeMenus(page);
}

/** All URLs so far are refused then; another language needs files that the player does not have. */
async function switchLanguageAfterRevocation(page: Page): Promise<void> {
  await call(service, `POST /media/${id}/revoke-playback`, { headers: asUser('ann') });
  const tokens = await page.evaluate<number>('window.tokens');
  await choose(page, 'Audio', 'German');
  await eventually(
    () => page.evaluate<string>(`[...${PLAYER}.media.audioTracks].find((track) => track.enabled).language`),
    (language) => language === 'de',
  );
  await eventually(
    () => page.evaluate<number>('window.tokens'),
    (count) => count > tokens,
  );
  await page.evaluate(`${PLAYER}.play()`);
  await eventually(
    () => readMedia<boolean>(page, 'ended'),
    (isEnded) => isEnded,
    { withinMs: 120_000 },
  );
}

test('a private video plays, with captions, two languages and renewed tokens', async () => {
  const { page, faults, hosts } = await openPage();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => readMedia<number>(page, 'currentTime'), SLOW).toBeGreaterThan(0.5);
  await showCaptions(page);
  await seekByChapter(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 700 });
  await expectAccessible(page);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  expect(faults).toEqual([]);

  await switchLanguageAfterRevocation(page);
  expect(await page.evaluate('window.failures')).toEqual([]);
  expect([...hosts].sort()).toEqual([new URL(page.url()).host, new URL(service.address).host].sort());

  await page.evaluate(`${PLAYER}.setAttribute('asset', '00000000-0000-7000-8000-000000000000')`);
  await page.getByRole('button', { name: 'Play' }).click();
  await page.getByText('This video was not found').waitFor();
  await expectAccessible(page);
  expect(await page.evaluate('window.failures')).toEqual(['NOT_FOUND']);
  await page.context().close();
});

test('a viewer whose clock is days ahead plays with the first token', async () => {
  const { page } = await openPage(48 * 3_600_000);
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => readMedia<number>(page, 'currentTime'), SLOW).toBeGreaterThan(0.5);
  expect(await page.evaluate('window.tokens')).toBe(1);
  expect(await page.evaluate('window.failures')).toEqual([]);
  await page.context().close();
});

test('the attribute muted is the first value of the property, which page and viewer change', async () => {
  const { page } = await openPage();
  const expectMuted = async (isMuted: boolean) => {
    await expect.poll(() => readMedia<boolean>(page, 'muted'), SLOW).toBe(isMuted);
    expect(await page.evaluate(`${PLAYER}.muted`)).toBe(isMuted);
  };
  await page.evaluate(`${PLAYER}.setAttribute('muted', '')`);
  await page.getByRole('button', { name: 'Play' }).click();
  await expectMuted(true);
  await page.evaluate(`${PLAYER}.muted = false`);
  await expectMuted(false);
  await page.keyboard.press('m');
  await expectMuted(true);
  // The next key press changes what the controls show.
  await page.locator('media-mute-button[mediavolumelevel=off]').waitFor();
  await page.keyboard.press('m');
  await expectMuted(false);
  // Opens the video anew.
  await page.evaluate(`${PLAYER}.poster = '${service.address}/none.jpg'`);
  await expect.poll(() => page.evaluate(`${PLAYER}.media`), SLOW).toBeNull();
  await page.getByRole('button', { name: 'Play' }).click();
  await expectMuted(false);
  await page.context().close();
});
