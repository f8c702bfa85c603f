// Stock players switch between the renditions of a private video while it plays, and find its storyboard.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, type PlayRequest, type TestBrowser } from '../../support/playback/browser.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { ingest } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

const USER = 'ann';
/** The switches take four seconds of it; on a busy machine they have the rest. */
const SECONDS = 12;

let service: TestService;
let browser: TestBrowser;
beforeAll(async () => {
  service = await startTestService({ VIDEO_EXTRAS: 'storyboard' });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

type Urls = { readonly hls: string; readonly dash: string; readonly storyboard: string | null };
const readUrls = async (id: string): Promise<Urls> =>
  (await call<Urls>(service, `GET /media/${id}/playback`, { headers: asUser(USER) })).body.data;

test('each player shows the lowest and the highest rendition, and plays to the end', async () => {
  const asset = await ingest(service, USER, {
    file: await makeClip({ seconds: SECONDS, width: 640, height: 360 }),
  });
  expect(asset).toMatchObject({ stream_status: 'ready', visibility: 'private' });
  const { hls, dash } = await eventually(
    () => readUrls(asset.id),
    ({ storyboard }) => storyboard !== null,
  );
  const streams: readonly PlayRequest[] = [
    { player: 'hls.js', url: hls },
    { player: 'dash.js', url: dash },
    { player: 'shaka-player', url: dash },
    { player: 'shaka-player', url: hls },
  ];
  const results = await Promise.all(streams.map((stream) => browser.switchRenditions(stream)));
  expect(results.map(({ errors }) => errors)).toEqual(streams.map(() => []));
  for (const { heights, shown, duration, endedAt } of results) {
    expect(heights).toEqual([240, 360]);
    expect(shown).toEqual([240, 360, 240]);
    expect(Math.abs(duration - SECONDS)).toBeLessThan(0.1);
    expect(Math.abs(endedAt - SECONDS)).toBeLessThan(0.1);
  }
  const [ofHls, ...thumbnails] = results.map(({ thumbnail }) => thumbnail);
  expect(ofHls).toBeUndefined();
  const sprite = expect.stringMatching(/\/\d+-\d+\/storyboard-1\.jpg$/);
  const third = { sprite, x: 320, y: 0, width: 160, height: 90 };
  expect(thumbnails).toEqual(thumbnails.map(() => third));
});
