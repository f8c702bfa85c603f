// Stock players in Chromium play every stream to its end, however many frames its last segment holds, and
// seek in it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  openBrowser,
  type PlayRequest,
  type ShownCaptions,
  type TestBrowser,
} from '../../support/playback/browser.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { ingest } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

const USER = 'ann';
const SEGMENT_SECONDS = 4;
/** No frame of the source may be lost at the end; manifests state times in milliseconds at least. */
const TOLERANCE_SECONDS = 0.002;

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

type Clip = {
  readonly fps: number;
  readonly segments: number;
  readonly tail: number;
  readonly visibility: string;
  /** The video streams of both are copied. */
  readonly container: 'mp4' | 'ts';
};
const CLIPS: readonly Clip[] = [
  { fps: 24, segments: 1, tail: 1, visibility: 'public', container: 'mp4' },
  { fps: 25, segments: 2, tail: 1, visibility: 'private', container: 'ts' },
  { fps: 25, segments: 2, tail: 2, visibility: 'private', container: 'ts' },
  { fps: 30, segments: 2, tail: 0, visibility: 'public', container: 'mp4' },
  { fps: 30, segments: 2, tail: 1, visibility: 'public', container: 'mp4' },
  { fps: 60, segments: 1, tail: 1, visibility: 'private', container: 'mp4' },
  { fps: 30, segments: 0, tail: 2, visibility: 'public', container: 'mp4' },
  { fps: 30, segments: 0, tail: 3, visibility: 'public', container: 'mp4' },
  { fps: 30, segments: 0, tail: 12, visibility: 'public', container: 'mp4' },
];

/** Those of the source. */
const secondsOf = ({ fps, segments, tail }: Clip): number => segments * SEGMENT_SECONDS + tail / fps;
/** hls.js does not start a shorter video with sound, so that its last frame is repeated. */
const MIN_SECONDS = 0.2;

/** The sound ends before the picture, so that the picture alone decides how long the stream is. */
const makeSource = (clip: Clip): Promise<string> =>
  makeClip({
    fps: clip.fps,
    seconds: secondsOf(clip) - 0.001,
    container: clip.container,
    more: ['-af', `atrim=end=${Math.max(0.01, secondsOf(clip) - 0.1)}`],
  });

async function streamsOf(clip: Clip): Promise<readonly PlayRequest[]> {
  const mimeType = { mp4: 'video/mp4', ts: 'video/mp2t' }[clip.container];
  const fields = { visibility: clip.visibility, filename: `film.${clip.container}`, mime_type: mimeType };
  const asset = await ingest(service, USER, { file: await makeSource(clip), fields });
  expect(asset).toMatchObject({ stream_status: 'ready', warnings: [] });
  const playback = await call<{ hls: string; dash: string }>(service, `GET /media/${asset.id}/playback`, {
    headers: asUser(USER),
  });
  const { hls, dash } = playback.body.data;
  expect(hls.includes('/~')).toBe(clip.visibility === 'private');
  return [
    { player: 'hls.js', url: hls },
    { player: 'dash.js', url: dash },
    { player: 'shaka-player', url: clip.visibility === 'private' ? hls : dash },
  ];
}

test.each(['private', 'public'])('captions of a %s video are shown at their time', async (visibility) => {
  const asset = await ingest(service, USER, {
    file: await makeClip({ seconds: 6 }),
    fields: { visibility },
  });
  const stored = await call(service, `PUT /media/${asset.id}/captions/en`, {
    headers: { ...asUser(USER), 'content-type': 'text/vtt' },
    body: 'WEBVTT\n\n00:01.000 --> 00:05.000\n<i>Hello</i> &amp; welcome\n',
  });
  expect(stored.status).toBe(200);
  const { hls, dash } = (
    await call<{ hls: string; dash: string }>(service, `GET /media/${asset.id}/playback`, {
      headers: asUser(USER),
    })
  ).body.data;
  const shown = await Promise.all(
    (
      [
        { player: 'hls.js', url: hls },
        { player: 'dash.js', url: dash },
        { player: 'shaka-player', url: dash },
        { player: 'shaka-player', url: hls },
      ] as const
    ).map(showCaptions),
  );
  for (const { errors, cue } of shown) {
    expect(errors).toEqual([]);
    expect(cue).toMatchObject({ startTime: expect.closeTo(1), endTime: expect.closeTo(5) });
    expect(cue?.text).toContain('Hello');
  }
});

const MAX_LOADS = 4;

/**
 * Loads the page again where no cue was shown, as a viewer does: with busy processors, captions may load
 * after their time, and Shaka Player may drop the cues of a file that it has just loaded. A video that
 * repeats on the same page may still show none.
 */
async function showCaptions(request: PlayRequest): Promise<ShownCaptions> {
  for (let load = 1; ; load++) {
    const shown = await browser.showCaptions(request);
    if (shown.cue || shown.errors.length > 0 || load === MAX_LOADS) return shown;
  }
}

// Players mostly wait for the picture: two videos play at a time.
describe.concurrent('a video plays to its end and seeks', () => {
  test.each(CLIPS)('$fps fps, $segments × 4 s + $tail frames, $visibility', async (clip) => {
    const streams = await streamsOf(clip);
    const results = await Promise.all(streams.map((stream) => browser.playThrough(stream)));
    const errors = results.flatMap((result, index) =>
      result.errors.map((error) => `${streams[index]?.player}: ${error}`),
    );
    expect(errors).toEqual([]);
    for (const result of results) {
      expect(result).toMatchObject({ width: 320, height: 180 });
      expect(Math.abs(result.duration - Math.max(MIN_SECONDS, secondsOf(clip)))).toBeLessThanOrEqual(
        TOLERANCE_SECONDS,
      );
      expect(result.duration - result.endedAt).toBeLessThanOrEqual(TOLERANCE_SECONDS);
    }
  });
});
