// Tests renditions that are copies of the source's own video stream, and those that are encoded beside them.
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { checkDash } from '../../../../test/support/playback/check-dash.ts';
import { checkHls } from '../../../../test/support/playback/check-hls.ts';
import { type ClipOptions, makeClip } from '../../../../test/support/clips/clips.ts';
import { encodeFilm, type Film, manifestsOf } from '../../../../test/support/clips/film.ts';
import {
  beeps,
  CLEAN,
  decode,
  flashes,
  keyframes,
  packets,
} from '../../../../test/support/clips/picture-and-sound.ts';

const SECONDS = 9;
const KEY_FRAME = { frames: 40, options: ['-g', '40', '-keyint_min', '40', '-sc_threshold', '0'] } as const;
/** With frames that are shown in another order than they are stored. */
const REORDERED = ['-preset', 'veryfast', '-bf', '3', '-b:v', '900k', ...KEY_FRAME.options];
const LATE_SECONDS = 0.067;
const LATE_PICTURE = ['-bsf:v', `setts=pts=PTS+${LATE_SECONDS}/TB:dts=DTS+${LATE_SECONDS}/TB`];

const FILE_TYPES = { mov: 'mp4', matroska: 'mkv', mpegts: 'ts' } as const;
type Copied = keyof typeof FILE_TYPES;
type CopiedClip = { readonly clip: ClipOptions; readonly container: Copied; readonly fps: number };

const source = (fps: number, container: Copied, more: readonly string[] = []): CopiedClip => ({
  clip: {
    ...{ seconds: SECONDS, width: 640, height: 360, fps },
    container: FILE_TYPES[container],
    more: [...REORDERED, ...more],
  },
  container,
  fps,
});

const track = (film: Film, id: number) => ({ url: film.path(`r${id}.m3u8`), stream: 'v:0' }) as const;
/** In units of a thousandth of a frame. */
const shownTimes = async (film: Film, id: number, fps: number): Promise<readonly number[]> =>
  (await packets(track(film, id))).map(({ at }) => Math.round(at * fps * 1000)).sort((a, b) => a - b);

describe('the copy of', () => {
  test.each<readonly [string, CopiedClip]>([
    ['Matroska with 23.976 frames per second', source(24_000 / 1001, 'matroska')],
    ['Matroska with 25 frames per second', source(25, 'matroska')],
    ['Matroska with 29.97 frames per second', source(30_000 / 1001, 'matroska')],
    ['Matroska with 60 frames per second', source(60, 'matroska')],
    ['Matroska whose picture starts late', source(30, 'matroska', LATE_PICTURE)],
    ['MP4 whose picture starts late', source(30, 'mov', LATE_PICTURE)],
    ['MPEG-TS with 25 frames per second', source(25, 'mpegts')],
    ['MPEG-TS with 29.97 frames per second', source(30_000 / 1001, 'mpegts')],
    ['MPEG-TS whose picture starts late', source(30, 'mpegts', LATE_PICTURE)],
  ])('%s has the frames and segments of the encoded renditions', async (_, { clip, container, fps }) => {
    await using film = await encodeFilm(await makeClip(clip), { container });
    const frames = Math.round(SECONDS * fps);
    const everyFrame = Array.from({ length: frames }, (_, at) => at * 1000);
    const keyTimes = Array.from({ length: Math.ceil(frames / KEY_FRAME.frames) }, (_, at) =>
      Number(((at * KEY_FRAME.frames) / fps).toFixed(3)),
    );
    for (const id of [0, 1]) {
      expect(await shownTimes(film, id, fps)).toEqual(everyFrame);
      expect(await keyframes(track(film, id))).toEqual(keyTimes);
    }
    const files = await manifestsOf(film);
    expect([...checkHls(files), ...checkDash(files)]).toEqual([]);
    expect([await decode(film.path('hls.m3u8')), await decode(film.path('dash.mpd'))]).toEqual([
      CLEAN,
      CLEAN,
    ]);
  });

  test.each([
    ['Matroska', 'matroska'],
    ['MP4', 'mov'],
    ['MPEG-TS', 'mpegts'],
  ] as const)('%s whose picture starts late is as late as in the source', async (_, container) => {
    const { clip } = source(30, container, LATE_PICTURE);
    await using film = await encodeFilm(await makeClip({ ...clip, flashAndBeep: true }), { container });
    const seen = await flashes(track(film, 0));
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await flashes(track(film, 1))).toEqual(seen);
    const heard = await beeps({ url: film.path('hls.m3u8'), stream: 'a:0' });
    for (const [second, beep] of heard.slice(1).entries())
      expect(Math.abs(second + 1 - LATE_SECONDS - beep)).toBeLessThan(0.01);
  });
});

test('a Matroska file with irregular frames is encoded', async () => {
  const { clip } = source(30, 'matroska', ['-fps_mode', 'passthrough', '-vf', 'select=mod(n\\,7)']);
  await using film = await encodeFilm(await makeClip(clip), { container: 'matroska' });
  expect(await keyframes(track(film, 0))).toEqual([0, 2, 4, 6]);
  expect(await decode(film.path('hls.m3u8'))).toEqual(CLEAN);
});

test('an MPEG-TS file whose parameters change is encoded', async () => {
  const parts = await Promise.all(
    [[], ['-x264-params', 'ref=1:weightp=0']].map((more) =>
      makeClip({ ...source(25, 'mpegts', more).clip, seconds: 4 }),
    ),
  );
  const path = `${parts[0]}.joined.ts`;
  await writeFile(path, Buffer.concat(await Promise.all(parts.map((part) => readFile(part)))));
  await using film = await encodeFilm(path, { container: 'mpegts' });
  expect(await keyframes(track(film, 0))).toEqual([0, 2, 4, 6]);
  expect(await decode(film.path('hls.m3u8'))).toEqual(CLEAN);
});
