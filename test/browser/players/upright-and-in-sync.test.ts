// Chromium shows rotated videos upright, and players play picture and sound at the same time.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, type PlayRequest, type TestBrowser } from '../../support/playback/browser.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { makeCornersClip, nameColour, uprightCorners } from '../../support/clips/corners.ts';
import { ingest } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

const USER = 'ann';

let service: TestService;
let browser: TestBrowser;
beforeAll(async () => {
  service = await startTestService();
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

type Playback = { readonly hls: string; readonly dash: string };

const streamFor = (player: PlayRequest['player'], { hls, dash }: Playback): PlayRequest => ({
  player,
  url: player === 'hls.js' ? hls : dash,
});

async function playbackOf(file: string): Promise<Playback> {
  const asset = await ingest(service, USER, { file });
  expect(asset).toMatchObject({ stream_status: 'ready' });
  const playback = await call<Playback>(service, `GET /media/${asset.id}/playback`, {
    headers: asUser(USER),
  });
  return playback.body.data;
}

const SECONDS = 6;
/** Frames last 100 ms, so that a busy page sees each white one. */
const FPS = 10;
/** Of the pairs of a flash and a beep; a page that stands still for a moment may miss the others. */
const MIN_PAIRS = 3;
/**
 * The page has audio that the browser has rendered but may not have played: beeps come up to 25 ms late here,
 * and later with larger buffers. Viewers notice sound that is 125 ms late (ITU-R BT.1359).
 */
const SYNC_SECONDS = 0.1;

type Recorded = { readonly flashes: readonly number[]; readonly beeps: readonly number[] };

/**
 * Seconds from each flash to its beep, which the page has measured many times: the median ignores those
 * during which playback stood still.
 */
const delaysOf = ({ flashes, beeps }: Recorded): number[] =>
  flashes.flatMap((flash) => {
    const delays = beeps.map((beep) => beep - flash).filter((delay) => Math.abs(delay) < 0.5);
    return delays.toSorted((a, b) => a - b)[Math.floor(delays.length / 2)] ?? [];
  });

// Players mostly wait for the picture: two tests run at a time.
describe.concurrent('in a browser', () => {
  /** `delay`: of the sound in the source. A delay that players keep shows that the test would notice one. */
  test.each<[delay: number, players: readonly PlayRequest['player'][]]>([
    [0, ['hls.js', 'dash.js', 'shaka-player']],
    [0.3, ['hls.js']],
  ])('a beep follows its flash after %d s, as in the source', async (delay, players) => {
    const sound = ['-af', `adelay=${delay * 1000}`];
    const playback = await playbackOf(
      await makeClip({ seconds: SECONDS, fps: FPS, flashAndBeep: true, more: sound }),
    );
    const results = await Promise.all(
      players.map((player) => browser.recordFlashesAndBeeps(streamFor(player, playback))),
    );
    expect(results.map(({ errors }) => errors)).toEqual(players.map(() => []));
    for (const result of results) {
      for (const flash of result.flashes) expect(Math.abs(flash - Math.round(flash))).toBeLessThan(0.01);
      const delays = delaysOf(result);
      expect(delays.length).toBeGreaterThanOrEqual(MIN_PAIRS);
      for (const each of delays) expect(Math.abs(each - delay)).toBeLessThan(SYNC_SECONDS);
    }
  });

  test.each([
    [90, 'hls.js', { width: 180, height: 320 }],
    [180, 'dash.js', { width: 320, height: 180 }],
    [270, 'shaka-player', { width: 180, height: 320 }],
  ] as const)(
    'a video that is rotated by %d degrees is shown upright by %s',
    async (rotation, player, size) => {
      const file = await makeCornersClip(rotation);
      const source = `data:video/mp4;base64,${(await readFile(file)).toString('base64')}`;
      const [stream, original] = await Promise.all([
        browser.readCorners(streamFor(player, await playbackOf(file))),
        browser.readCorners({ player: 'none', url: source }),
      ]);
      // Chromium itself rotates the source, so the expectation does not depend on this repository alone.
      for (const shown of [original, stream]) {
        expect(shown).toMatchObject({ errors: [], ...size });
        expect(shown.corners.map(nameColour)).toEqual(uprightCorners(rotation));
      }
    },
  );
});
