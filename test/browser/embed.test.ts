// Chromium plays the embed page in an iframe of a page of another origin.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../support/browser.ts';
import { makeClip } from '../support/clips.ts';
import { ingest } from '../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../support/service.ts';

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
  'a %s video plays on another site',
  async (visibility) => {
    const { id } = await ingest(service, 'ann', {
      file: await makeClip({ seconds: 4, width: 320, height: 180 }),
      fields: { visibility },
    });
    const playback = await call<{ embed: string }>(service, `GET /media/${id}/playback`, {
      headers: asUser('ann'),
    });
    const { embed } = playback.body.data;
    expect(embed.includes('/~')).toBe(visibility === 'private');

    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    page.on('pageerror', ({ message }) => errors.push(message));
    const { port } = site.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/?embed=${encodeURIComponent(embed)}`);
    const frame = page.frames().find((each) => each.url() === embed);
    const video = frame?.locator('video');
    await video?.evaluate('video => video.play()');
    await frame?.waitForFunction('document.querySelector("video").currentTime > 0.5', undefined, {
      timeout: 30_000,
    });
    expect(await video?.evaluate('video => [video.videoWidth, video.error]')).toEqual([320, null]);
    expect(errors).toEqual([]);
    await page.close();
  },
  90_000,
);
