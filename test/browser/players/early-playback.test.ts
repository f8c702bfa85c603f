// Players that start while a video is being encoded play it to its end without a reload, a pause or a jump.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  openBrowser,
  type EarlyPlayRequest,
  type PlayRequest,
  type TestBrowser,
} from '../../support/playback/browser.ts';
import { makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { offer, readAsset, settled } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

const USER = 'ann';

let service: TestService;
/** Copies slowly, so that players start before the copy is complete. */
let slowCopier: TestService;
/** Encodes as slowly as a video plays, so that players read growing manifests for a while. */
let slowEncoder: TestService;
let browser: TestBrowser;
beforeAll(async () => {
  [service, slowCopier, slowEncoder, browser] = await Promise.all([
    startTestService(),
    startTestService({ FFMPEG_PATH: await pacedEngine('copies') }),
    startTestService({ FFMPEG_PATH: await pacedEngine() }),
    openBrowser(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await Promise.all([service.stop(), slowCopier.stop(), slowEncoder.stop()]);
});

type Early = { readonly id: string; readonly hls: string; readonly dash: string };
type Playback = { readonly hls: string | null; readonly dash: string | null };

/** Resolves as soon as the video can be played. */
async function uploadUntilPlayable(at: TestService, file: string, fields: object): Promise<Early> {
  const { id } = await offer(at, USER, { bytes: await readFile(file), fields });
  const { hls, dash } = await eventually(
    async () => (await call<Playback>(at, `GET /media/${id}/playback`, { headers: asUser(USER) })).body.data,
    (playback) => playback.hls !== null,
    { withinMs: 120_000 },
  );
  expect(await readAsset(at, USER, id)).toMatchObject({ stream_status: 'processing' });
  return { id, hls: hls ?? '', dash: dash ?? '' };
}

const textOf = async (url: string): Promise<string> => (await fetch(url)).text();

type Playing = { readonly seconds: number; readonly slowUntil?: Promise<unknown> };

async function expectPlayed(streams: readonly EarlyPlayRequest[], { seconds, slowUntil }: Playing) {
  const results = await Promise.all(streams.map((stream) => browser.playEarly(stream, slowUntil)));
  const problems = results.map(({ errors, interruptions = [] }) => [...errors, ...interruptions]);
  expect(problems).toEqual(streams.map(() => []));
  for (const { startedAt, endedAt } of results) {
    expect(startedAt).toBeLessThan(0.1);
    expect(Math.abs(endedAt - seconds)).toBeLessThan(0.1);
  }
  return results;
}

// Players mostly wait for the picture: two videos play at a time.
describe.concurrent('a video that is not ready yet plays from its beginning to its end', () => {
  test.each(['public', 'private'])(
    'while it is encoded: %s',
    async (visibility) => {
      const seconds = 24;
      const file = await makeClip({
        seconds,
        width: 1280,
        height: 720,
        container: 'webm',
        more: ['-metadata', `title=${visibility}`],
      });
      const fields = { visibility, mime_type: 'video/webm', filename: 'clip.webm' };
      const { id, hls, dash } = await uploadUntilPlayable(service, file, fields);
      expect(await textOf(dash)).toContain('type="dynamic"');
      const streams: PlayRequest[] = [
        { player: 'hls.js', url: hls },
        { player: 'dash.js', url: dash },
        { player: 'shaka-player', url: visibility === 'public' ? dash : hls },
      ];
      await expectPlayed(streams, { seconds });
      expect(await settled(service, USER, id)).toMatchObject({ stream_status: 'ready' });
    },
    300_000,
  );

  test('and can move to its largest rendition once that is there', async () => {
    // More than an encode takes on a slow machine, at the speed that they play until then.
    const seconds = 48;
    const file = await makeClip({ seconds, width: 640, height: 360, fps: 10, container: 'webm' });
    const fields = { mime_type: 'video/webm', filename: 'clip.webm' };
    const { hls, dash } = await uploadUntilPlayable(service, file, fields);
    // A short buffer: what is buffered when the encode ends is played as it is.
    const streams: EarlyPlayRequest[] = [
      { player: 'hls.js', url: hls, bufferSeconds: 4, awaitedHeight: 360 },
      { player: 'dash.js', url: dash, bufferSeconds: 4, awaitedHeight: 360 },
    ];
    const results = await expectPlayed(streams, { seconds });
    expect(results.map(({ height }) => height)).toEqual([360, 360]);
  }, 300_000);

  test('without content steering, too', async () => {
    const seconds = 24;
    const file = await makeClip({ seconds, width: 640, height: 360, container: 'webm' });
    const fields = { mime_type: 'video/webm', filename: 'clip.webm', title: 'shaka' };
    const { id, hls, dash } = await uploadUntilPlayable(slowEncoder, file, fields);
    expect(await textOf(dash)).toContain('type="dynamic"');
    const ready = settled(slowEncoder, USER, id);
    await expectPlayed(
      [
        { player: 'shaka-player', url: dash },
        { player: 'shaka-player', url: hls },
      ],
      { seconds, slowUntil: ready },
    );
  }, 300_000);

  test('from a growing copy of its H.264, which is replaced while it plays', async () => {
    const seconds = 16;
    // Twice the bit rate that the ladder has for this height, so that the copy does not stay.
    const rate = ['-b:v', '3M', '-minrate', '3M', '-maxrate', '3M', '-bufsize', '3M'];
    const file = await makeClip({
      seconds,
      width: 640,
      height: 360,
      more: [...rate, '-x264-params', 'nal-hrd=cbr'],
    });
    const { id, hls, dash } = await uploadUntilPlayable(slowCopier, file, {});
    const copied = await childOf(hls);
    expect(await textOf(copied)).toContain('#EXT-X-PLAYLIST-TYPE:EVENT');
    const ready = settled(slowCopier, USER, id);
    // A short buffer: players request segments of the copy after it has been replaced.
    await expectPlayed(
      [
        { player: 'hls.js', url: hls, bufferSeconds: 4 },
        { player: 'dash.js', url: dash, bufferSeconds: 4 },
        { player: 'shaka-player', url: hls, bufferSeconds: 4 },
      ],
      { seconds, slowUntil: ready },
    );
    expect(await ready).toMatchObject({ stream_status: 'ready' });
    expect(await childOf(hls)).not.toBe(copied);
  }, 300_000);
});

/** The URL of the first media playlist. */
const childOf = async (hls: string): Promise<string> =>
  new URL(/^[^#\n].*$/m.exec(await textOf(hls))?.[0] ?? '', hls).href;
