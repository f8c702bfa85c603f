// Players that start while a video is being encoded play it to its end without a reload.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, type PlayRequest, type TestBrowser } from '../support/browser.ts';
import { makeClip } from '../support/clips.ts';
import { offer, readAsset, settled } from '../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../support/service.ts';

const USER = 'ann';
const SECONDS = 24;

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

const playbackOf = async (id: string) =>
  (
    await call<{ hls: string | null; dash: string | null }>(service, `GET /media/${id}/playback`, {
      headers: asUser(USER),
    })
  ).body.data;

/** A file that has to be encoded, so that its manifests grow. */
const makeSource = (visibility: string) =>
  makeClip({
    seconds: SECONDS,
    width: 1280,
    height: 720,
    container: 'webm',
    more: ['-metadata', `title=${visibility}`],
  });

describe('a video that is being encoded', () => {
  test.each(['public', 'private'])(
    'plays from its beginning to its end: %s',
    async (visibility) => {
      const { id } = await offer(service, USER, {
        bytes: await readFile(await makeSource(visibility)),
        fields: { visibility, mime_type: 'video/webm', filename: 'clip.webm' },
      });
      const { hls, dash } = await eventually(
        () => playbackOf(id),
        (playback) => playback.hls !== null,
      );
      expect(await readAsset(service, USER, id)).toMatchObject({ stream_status: 'processing' });
      expect(await (await fetch(dash ?? '')).text()).toContain('type="dynamic"');
      const streams: PlayRequest[] = [
        { player: 'hls.js', url: hls ?? '' },
        { player: 'dash.js', url: dash ?? '' },
        { player: 'shaka-player', url: (visibility === 'public' ? dash : hls) ?? '' },
      ];
      const results = await Promise.all(streams.map((stream) => browser.playEarly(stream)));
      expect(results.map(({ errors }) => errors)).toEqual([[], [], []]);
      for (const result of results) {
        expect(result.startedAt).toBeLessThan(0.1);
        expect(Math.abs(result.endedAt - SECONDS)).toBeLessThan(0.1);
      }
      expect(await settled(service, USER, id)).toMatchObject({ stream_status: 'ready' });
    },
    180_000,
  );
});
