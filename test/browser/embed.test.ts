// Chromium plays the embed page in an iframe of a page of another origin.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../support/browser.ts';
import { makeClip } from '../support/clips.ts';
import { ingest } from '../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../support/service.ts';

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
    await frame?.evaluate('document.querySelector("video").play()');
    const clock = await eventually(
      async () => Number(await frame?.evaluate('document.querySelector("video").currentTime')),
      (seconds) => seconds > 0.5,
      { withinMs: 30_000 },
    );
    expect(clock).toBeGreaterThan(0.5);
    expect(await frame?.evaluate('document.querySelector("video").videoWidth')).toBe(320);
    expect(errors).toEqual([]);
    await page.close();
  },
  90_000,
);
