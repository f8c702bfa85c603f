// Audio assets play in stock players from their beginning to their end.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, type PlayRequest, type TestBrowser } from '../../support/playback/browser.ts';
import { makeSound } from '../../support/clips/sounds.ts';
import { offer, settled } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

const USER = 'ann';

let service: TestService;
let browser: TestBrowser;
beforeAll(async () => {
  [service, browser] = await Promise.all([startTestService({ VIDEO_EXTRAS: 'audio' }), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

type Playback = { readonly hls: string; readonly dash: string; readonly audio: string | null };

// The second one ends 20 ms after a whole number of segments.
test.each([5.3, 8.02])(
  '%d seconds of sound play in each player',
  async (seconds) => {
    const bytes = await readFile(await makeSound({ seconds, container: 'flac' }));
    const fields = { mime_type: 'audio/flac', content_type: 'audio', filename: 'sound.flac' };
    const { id } = await offer(service, USER, { bytes, fields });
    expect(await settled(service, USER, id)).toMatchObject({ kind: 'audio', stream_status: 'ready' });
    const { hls, dash, audio } = await eventually(
      async () =>
        (await call<Playback>(service, `GET /media/${id}/playback`, { headers: asUser(USER) })).body.data,
      (playback) => playback.audio !== null,
    );
    const streams: PlayRequest[] = [
      { player: 'hls.js', url: hls },
      { player: 'shaka-player', url: hls },
      { player: 'dash.js', url: dash },
      { player: 'shaka-player', url: dash },
      { player: 'none', url: audio ?? '' },
    ];
    const results = await Promise.all(streams.map((stream) => browser.playThrough(stream)));
    expect(results.map(({ errors }) => errors)).toEqual(streams.map(() => []));
    for (const { startedAt, endedAt } of results) {
      expect(startedAt).toBeLessThan(0.1);
      expect(Math.abs(endedAt - seconds)).toBeLessThan(0.1);
    }
  },
  120_000,
);
