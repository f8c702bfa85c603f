// Stock players and the embed page play a private video with encrypted segments in Chromium: to the end, with
// seeks, and in another language.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium, openBrowser, type TestBrowser } from '../../support/playback/browser.ts';
import { OWNER, playbackOf } from '../../support/playback/encrypted-video.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { eventually, startTestService, type TestService } from '../../support/service.ts';
import { ENGLISH_TONE, GERMAN_TONE, makeTwoLanguageClip } from '../../support/clips/two-languages.ts';

const SECONDS = 12;
const PLAYERS = ['hls.js', 'shaka-player'] as const;

let service: TestService;
let browser: TestBrowser;
let chromium: Browser;
let asset: AssetJson;
beforeAll(async () => {
  service = await startTestService({ SEGMENT_ENCRYPTION: 'private' });
  browser = await openBrowser();
  chromium = await launchChromium();
  asset = await ingest(service, OWNER, { file: await makeTwoLanguageClip(SECONDS) });
  expect(asset).toMatchObject({ stream_status: 'ready', visibility: 'private' });
});
afterAll(async () => {
  await chromium.close();
  await browser.close();
  await service.stop();
});

/** Of a video whose segments are encrypted. */
async function encryptedUrl(name: 'hls' | 'embed'): Promise<string> {
  const playback = await playbackOf(service, asset);
  expect(playback['encryption']).toBe('aes-128');
  return playback[name] ?? '';
}

describe.each(PLAYERS)('%s', (player) => {
  test('plays to the end, also after seeks', async () => {
    const result = await browser.playThrough({ player, url: await encryptedUrl('hls') });
    expect(result).toMatchObject({ errors: [], width: 320, height: 180 });
    expect(result.startedAt).toBeLessThan(0.1);
    expect(Math.abs(result.endedAt - SECONDS)).toBeLessThan(0.1);
  });

  test('switches from English to German', async () => {
    const { errors, tracks } = await browser.switchAudio({
      player,
      url: await encryptedUrl('hls'),
      tone: ENGLISH_TONE,
      language: 'de',
      languageTone: GERMAN_TONE,
    });
    expect(errors).toEqual([]);
    expect(new Set(tracks.map(({ language }) => language))).toEqual(new Set(['en', 'de']));
  });
});

test('the embed page plays within its content security policy', async () => {
  const page = await chromium.newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`);
  });
  const keys: number[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith('.key')) keys.push(response.status());
  });
  await page.goto(await encryptedUrl('embed'));
  await page.evaluate('document.querySelector("mediary-player").play()');
  await eventually(
    async () => Number(await page.evaluate('document.querySelector("mediary-player").media?.currentTime')),
    (seconds) => seconds > 5,
    { withinMs: 120_000 },
  );
  expect(errors).toEqual([]);
  expect(new Set(keys)).toEqual(new Set([200]));
});
