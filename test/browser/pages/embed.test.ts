// Chromium shows the pages of the service: the embed page in an iframe of another origin, the API reference.
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../support/playback/browser.ts';
import { makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { makeSound } from '../../support/clips/sounds.ts';
import { ingest, offer, readAsset, settled } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let browser: Browser;
let site: Server;
beforeAll(async () => {
  service = await startTestService({ VIDEO_EXTRAS: 'none' });
  browser = await launchChromium();
  site = createServer(({ url = '' }, response) => {
    const embed = new URL(url, 'http://site').searchParams.get('embed') ?? '';
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><link rel="icon" href="data:,"><iframe src="${embed}" allow="autoplay"></iframe>`,
    );
  });
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(async () => {
  await browser.close();
  site.close();
  await service.stop();
});

test.each(['public', 'private'])(
  'a %s video plays on another site, and with access rules on no other one',
  async (visibility) => {
    const { port } = site.address() as AddressInfo;
    const { id } = await ingest(service, 'ann', {
      file: await makeClip({ seconds: 4, width: 320, height: 180 }),
      fields: { visibility, access: { referrers: [`127.0.0.1:${port}`] } },
    });
    const embed = await embedOf(service, id);
    expect(embed.includes('/~')).toBe(visibility === 'private');

    const { page, frame, errors } = await openEmbed(embed);
    await frame.evaluate(`${PLAYER}.play()`);
    const clock = await eventually(
      () => read<number>(frame, 'currentTime'),
      (seconds) => seconds > 0.5,
      { withinMs: 120_000 },
    );
    expect(clock).toBeGreaterThan(0.5);
    expect(await read(frame, 'videoWidth')).toBe(320);
    expect(errors).toEqual([]);
    const refused = page.waitForResponse((response) => response.status() === 403);
    await page.goto(`http://localhost:${port}/?embed=${encodeURIComponent(embed)}`);
    expect((await refused).url()).toBe(embed);
    const manifest = JSON.stringify(embed.replace(/embed$/, 'hls.m3u8'));
    expect(await page.evaluate(`fetch(${manifest}).then(({ status }) => status)`)).toBe(403);
    await page.close();
  },
  90_000,
);

test('sound plays beside its cover, with controls that stay', async () => {
  const { id } = await ingest(service, 'ann', {
    file: await makeSound({ seconds: 4, hasCover: true }),
    fields: { filename: 'song.mp3', content_type: 'audio', mime_type: 'audio/mpeg' },
  });
  const { page, frame, errors } = await openEmbed(await embedOf(service, id));
  await frame.evaluate(`${PLAYER}.play()`);
  await eventually(
    () => read<number>(frame, 'currentTime'),
    (seconds) => seconds > 3,
    { withinMs: 60_000 },
  );
  // The cover is red, and lies in the middle.
  const box = await page.locator('iframe').boundingBox();
  const middle = { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
  const clip = { x: Math.round(middle.x), y: Math.round(middle.y - 20), width: 1, height: 1 };
  const [red = 0, green = 0] = (
    await sharp(await page.screenshot({ clip }))
      .raw()
      .toBuffer()
  ).values();
  expect([red > 200, green < 60]).toEqual([true, true]);
  expect(await frame.locator('media-play-button').isVisible()).toBe(true);
  expect(await frame.locator('media-fullscreen-button').count()).toBe(0);
  expect(errors).toEqual([]);
  await page.close();
}, 90_000);

test('the API reference shows the operations', async () => {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  await page.goto(`${service.address}/docs`);
  await page.getByText('/api/v1/media/upload-url').first().waitFor({ timeout: 30_000 });
  expect(errors).toEqual([]);
  await page.close();
});

test('a video that is still being encoded plays to its end, and gains its renditions', async () => {
  const slow = await startTestService({ FFMPEG_PATH: await pacedEngine() });
  try {
    const file = await makeClip({ seconds: GROWING_SECONDS, width: 640, height: 360, container: 'webm' });
    const { id } = await offer(slow, 'ann', {
      bytes: await readFile(file),
      fields: { mime_type: 'video/webm', filename: 'clip.webm' },
    });
    await eventually(
      () => readAsset(slow, 'ann', id),
      (asset) => asset['playable_at'] !== null,
    );
    const { page, frame, errors } = await openEmbed(await embedOf(slow, id));
    expect(await readAsset(slow, 'ann', id)).toMatchObject({ stream_status: 'processing' });
    await expectFirstFrame(frame);
    await frame.evaluate(`${PLAYER}.play()`);
    await eventually(
      () => read<number>(frame, 'videoHeight'),
      (height) => height === 240,
    );
    await frame.evaluate(`${PLAYER}.pause()`);
    await settled(slow, 'ann', id);
    await frame.evaluate(`${PLAYER}.media.playbackRate = 0.5`);
    await frame.evaluate(`${PLAYER}.play()`);
    await eventually(
      () => read<number>(frame, 'videoHeight'),
      (height) => height === 360,
      { withinMs: 120_000 },
    );
    expect(await frame.evaluate(`[...${PLAYER}.media.videoRenditions].map(({ height }) => height)`)).toEqual([
      240, 360,
    ]);
    await frame.evaluate(`${PLAYER}.media.playbackRate = 2`);
    await eventually(
      () => read<boolean>(frame, 'ended'),
      (isEnded) => isEnded,
    );
    expect(Math.abs((await read<number>(frame, 'currentTime')) - GROWING_SECONDS)).toBeLessThan(0.1);
    expect(await frame.evaluate(LEFT_OUT)).toEqual([]);
    expect(errors).toEqual([]);
    await page.close();
  } finally {
    await slow.stop();
  }
});

/** The poster is made with the last rendition. */
async function expectFirstFrame(frame: Frame): Promise<void> {
  await eventually(
    () => frame.evaluate<string | undefined>(`${PLAYER}.shadowRoot.querySelector('[part=poster]')?.part`),
    (poster) => poster === undefined,
  );
  expect(await read<number>(frame, 'readyState')).toBeGreaterThanOrEqual(HAVE_CURRENT_DATA);
  expect(await read<boolean>(frame, 'paused')).toBe(true);
  expect(await read<number>(frame, 'currentTime')).toBeLessThan(0.1);
}

const HAVE_CURRENT_DATA = 2;
const GROWING_SECONDS = 10;
const PLAYER = 'document.querySelector("mediary-player")';
/** Parts of the video that were not played; the player may start at 0.001 s instead of 0. */
const LEFT_OUT = `(({ played, duration }) => {
  const starts = Array.from({ length: played.length }, (_, index) => played.start(index));
  const ends = Array.from({ length: played.length }, (_, index) => played.end(index));
  const gaps = [0, ...ends].map((end, index) => [end, starts[index] ?? duration]);
  return gaps.filter(([from, to]) => to - from > 0.1);
})(${PLAYER}.media)`;

async function embedOf(at: TestService, id: string): Promise<string> {
  const playback = await call<{ embed: string }>(at, `GET /media/${id}/playback`, {
    headers: asUser('ann'),
  });
  return playback.body.data.embed;
}

/** In an iframe; `errors` grows while the page is open. */
async function openEmbed(embed: string): Promise<{ page: Page; frame: Frame; errors: string[] }> {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', ({ message }) => errors.push(message));
  const { port } = site.address() as AddressInfo;
  await page.goto(`http://127.0.0.1:${port}/?embed=${encodeURIComponent(embed)}`);
  const frame = page.frames().find((each) => each.url() === embed);
  if (!frame) throw new Error(`the page has no frame with ${embed}`);
  return { page, frame, errors };
}

/** A property of the media element; undefined before it exists. */
const read = <T>(frame: Frame, property: string): Promise<T> =>
  frame.evaluate<T>(`${PLAYER}.media?.${property}`);

const DEVICES = {
  desktop: { viewport: { width: 900, height: 600 } },
  phone: { viewport: { width: 390, height: 700 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
} as const;

test.each(['desktop', 'phone'] as const)(
  'at rest, a %s shows a still poster and loads nothing; a tap on the picture plays',
  async (device) => {
    const { id } = await ingest(service, 'ann', {
      file: await makeClip({ seconds: 4, width: 640, height: 360 }),
      fields: { visibility: 'public' },
    });
    const context = await browser.newContext(DEVICES[device]);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).pathname));
    await page.goto(await embedOf(service, id), { waitUntil: 'networkidle' });
    expect(await page.evaluate(`${PLAYER}.media`)).toBeNull();
    expect(requested.filter((path) => path.includes('hls-video-element'))).toEqual([]);
    expect(requested.filter((path) => /\.(?:m3u8|m4s|mp4)$/.test(path))).toEqual([]);
    expect(await page.getByRole('button', { name: 'Play' }).isVisible()).toBe(true);

    const { width, height } = DEVICES[device].viewport;
    if (device === 'phone') await page.touchscreen.tap(width / 2, height / 3);
    else await page.mouse.click(width / 2, height / 3);
    await eventually(
      () => page.evaluate<number>(`${PLAYER}.media?.currentTime`),
      (seconds) => seconds > 0.5,
      { withinMs: 120_000 },
    );
    expect(await page.getByRole('button', { name: 'play', exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'pause', exact: true }).isVisible()).toBe(true);
    expect(errors).toEqual([]);
    await context.close();
  },
  90_000,
);
