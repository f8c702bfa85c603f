// Stock players in Chromium list the languages of a video, start with the default one and switch to another;
// what they play is heard.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AudioSwitch, openBrowser, type TestBrowser } from '../support/browser.ts';
import { makeClip } from '../support/clips.ts';
import { ingest } from '../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../support/service.ts';

const USER = 'ann';
const [ENGLISH, GERMAN] = [440, 880];

let service: TestService;
let browser: TestBrowser;
let playback: { readonly hls: string; readonly dash: string };
beforeAll(async () => {
  service = await startTestService();
  browser = await openBrowser();
  const asset = await ingest(service, USER, { file: await makeSource() });
  expect(asset).toMatchObject({ stream_status: 'ready' });
  const answer = await call<typeof playback>(service, `GET /media/${asset.id}/playback`, {
    headers: asUser(USER),
  });
  playback = answer.body.data;
}, 120_000);
afterAll(async () => {
  await browser.close();
  await service.stop();
});

/** German in stereo, and English in 5.1 as the default. */
const makeSource = (): Promise<string> =>
  makeClip({
    seconds: 12,
    container: 'mp4',
    more: [
      '-filter_complex',
      [
        `sine=${GERMAN}:sample_rate=48000,aformat=channel_layouts=stereo[german]`,
        `sine=${ENGLISH}:sample_rate=48000,asplit=6[a][b][c][d][e][f]`,
        '[a][b][c][d][e][f]join=inputs=6:channel_layout=5.1[english]',
      ].join(';'),
      ...['0:v', '[german]', '[english]'].flatMap((stream) => ['-map', stream]),
      ...['-metadata:s:a:0', 'language=ger', '-metadata:s:a:1', 'language=eng'],
      ...['-disposition:a:0', '0', '-disposition:a:1', 'default'],
    ],
  });

test.each<[AudioSwitch['player'], 'hls' | 'dash', readonly string[]]>([
  ['hls.js', 'hls', ['en', 'de']],
  ['dash.js', 'dash', ['en', 'de', 'en']],
  ['shaka-player', 'dash', ['en', 'de', 'en']],
  ['shaka-player', 'hls', ['en', 'de', 'en']],
])(
  '%s switches from English to German in %s',
  async (player, format, languages) => {
    const { errors, tracks } = await browser.switchAudio({
      player,
      url: playback[format],
      tone: ENGLISH,
      language: 'de',
      languageTone: GERMAN,
    });
    expect(errors).toEqual([]);
    expect(tracks.map(({ language }) => language).toSorted()).toEqual([...languages].toSorted());
  },
  60_000,
);
