// Stock players in Chromium list the languages of a video, start with the default one and switch to another;
// what they play is heard.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AudioSwitch, openBrowser, type TestBrowser } from '../../support/playback/browser.ts';
import { ingest } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { ENGLISH_TONE, GERMAN_TONE, makeTwoLanguageClip } from '../../support/clips/two-languages.ts';

const USER = 'ann';

let service: TestService;
let browser: TestBrowser;
let playback: { readonly hls: string; readonly dash: string };
beforeAll(async () => {
  service = await startTestService();
  browser = await openBrowser();
  const asset = await ingest(service, USER, { file: await makeTwoLanguageClip(12) });
  expect(asset).toMatchObject({ stream_status: 'ready' });
  const answer = await call<typeof playback>(service, `GET /media/${asset.id}/playback`, {
    headers: asUser(USER),
  });
  playback = answer.body.data;
});
afterAll(async () => {
  await browser.close();
  await service.stop();
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
      tone: ENGLISH_TONE,
      language: 'de',
      languageTone: GERMAN_TONE,
    });
    expect(errors).toEqual([]);
    expect(tracks.map(({ language }) => language).toSorted()).toEqual([...languages].toSorted());
  },
  60_000,
);
