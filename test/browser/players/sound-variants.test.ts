// Stock players in Chromium never choose the sound alone, nor E-AC-3, which Chromium does not decode.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { openBrowser, type TestBrowser } from '../../support/playback/browser.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

const USER = 'ann';
const SECONDS = 12;
const SURROUND = [
  '-filter_complex',
  'sine=440:sample_rate=48000,asplit=6[a][b][c][d][e][f];' +
    '[a][b][c][d][e][f]join=inputs=6:channel_layout=5.1[s]',
  ...['-map', '0:v', '-map', '[s]', '-c:a', 'eac3'],
];

let service: TestService;
let browser: TestBrowser;
let published: Promise<AssetJson> | undefined;
beforeAll(async () => {
  service = await startTestService({
    AUDIO_PASSTHROUGH: 'eac3',
    HLS_AUDIO_VARIANT: 'on',
    VIDEO_EXTRAS: 'storyboard',
  });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

test.each(['hls.js', 'shaka-player'] as const)(
  '%s lists variants with pictures alone in HLS',
  async (player) => {
    const { hls } = await publish();
    const playlist = await (await fetch(hls)).text();
    expect(playlist).toMatch(/CODECS="avc1\.[0-9a-f]+,ec-3"/);
    expect(playlist).toMatch(/,CODECS="mp4a\.40\.2",AUDIO="audio",CLOSED-CAPTIONS=NONE\n/);
    const { errors, heights, shown, endedAt, tracks } = await browser.switchRenditions({ player, url: hls });
    expect(errors).toEqual([]);
    expect([...new Set(heights)]).toEqual([240, 360]);
    expect(shown).toEqual([240, 360, 240]);
    expect(Math.abs(endedAt - SECONDS)).toBeLessThan(0.1);
    expect(tracks).not.toContain(500);
  },
  240_000,
);

test('dash.js plays AAC', async () => {
  const { dash } = await publish();
  const { errors, endedAt, tracks } = await browser.playThrough({ player: 'dash.js', url: dash });
  expect(errors).toEqual([]);
  expect(Math.abs(endedAt - SECONDS)).toBeLessThan(0.1);
  expect(tracks).not.toContain(500);
}, 240_000);

type Urls = { readonly hls: string; readonly dash: string; readonly storyboard: string | null };

/** The same asset for all players. They look for its storyboard, too. */
async function publish(): Promise<Urls> {
  const file = await makeClip({ seconds: SECONDS, width: 640, height: 360, more: SURROUND });
  published ??= ingest(service, USER, { file });
  const { id } = await published;
  const read = async () =>
    (await call<Urls>(service, `GET /media/${id}/playback`, { headers: asUser(USER) })).body.data;
  return eventually(read, ({ storyboard }) => storyboard !== null);
}
