// Stock players in Chromium play a video with renditions in SDR and HDR to its end: in SDR, unless the page
// asks for HDR.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, type PlayRequest, type TestBrowser } from '../../support/playback/browser.ts';
import { makeHdrClip } from '../../support/clips/hdr-clips.ts';
import { ingest } from '../../support/media.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const SECONDS = 5;
/** Of audio. */
const SOUND = 2;
const isHdr = (track: number) => track >= 300;

let service: TestService;
let browser: TestBrowser;
let hls: string;
let dash: string;
beforeAll(async () => {
  service = await startTestService({ HDR_CODECS: 'av1,hevc' });
  browser = await openBrowser();
  const file = await makeHdrClip({ range: 'pq', seconds: SECONDS, width: 640, height: 360 });
  const asset = await ingest(service, 'ann', { file, fields: { visibility: 'public' } });
  expect(asset).toMatchObject({ stream_status: 'ready', warnings: [{ code: 'hdr' }] });
  ({ hls, dash } = asset['playback'] as { hls: string; dash: string });
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

async function playedTracks(request: PlayRequest): Promise<readonly number[]> {
  const { errors, endedAt, tracks, width } = await browser.playEarly(request);
  expect(errors).toEqual([]);
  expect(Math.abs(endedAt - SECONDS)).toBeLessThan(0.1);
  expect(width).toBeGreaterThan(0);
  return tracks.filter((track) => track !== SOUND);
}

type Case = readonly [player: PlayRequest['player'], format: 'hls' | 'dash'];
const CASES: readonly Case[] = [
  ['hls.js', 'hls'],
  ['dash.js', 'dash'],
  ['shaka-player', 'dash'],
  ['shaka-player', 'hls'],
];

describe('a page without settings', () => {
  test.each(CASES)('lets %s play SDR from %s', async (player, format) => {
    const tracks = await playedTracks({ player, url: format === 'hls' ? hls : dash });
    expect(tracks.length).toBeGreaterThan(0);
    expect(tracks.filter(isHdr)).toEqual([]);
  });
});

describe('a page that asks for HDR', () => {
  // Chromium without a screen does not offer BT.2020, which Shaka Player reads from DASH.
  test.each(CASES.filter(([player, format]) => player !== 'shaka-player' || format === 'hls'))(
    'lets %s play it from %s',
    async (player, format) => {
      const tracks = await playedTracks({ player, url: format === 'hls' ? hls : dash, prefersHdr: true });
      expect(tracks.length).toBeGreaterThan(0);
      expect(tracks.filter((track) => !isHdr(track))).toEqual([]);
    },
  );
});
