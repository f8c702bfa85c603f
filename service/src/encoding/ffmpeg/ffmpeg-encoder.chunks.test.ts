// Tests that chunks join to what one run creates, with real videos whose frames are numbered.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { checkDash } from '../../../../test/support/playback/check-dash.ts';
import { checkHls } from '../../../../test/support/playback/check-hls.ts';
import { type ClipOptions, makeClip, NOT_COPYABLE } from '../../../../test/support/clips/clips.ts';
import { type Film, encodeFilm, manifestsOf } from '../../../../test/support/clips/film.ts';
import { readFrameNumbers } from '../../../../test/support/clips/frame-numbers.ts';
import { CLEAN, decode, packets } from '../../../../test/support/clips/picture-and-sound.ts';
import type { Container } from '@mediary/media-rules/video-facts';

const SOURCE: ClipOptions = { seconds: 13, width: 640, height: 360, isNumbered: true };

type Case = {
  readonly name: string;
  readonly clip: ClipOptions;
  readonly container: Container;
  /** The track of the rendition that is encoded in chunks. */
  readonly track: number;
};

const CASES: readonly Case[] = [
  { name: 'MP4', clip: { ...SOURCE, more: NOT_COPYABLE }, container: 'mov', track: 0 },
  {
    name: 'Matroska with the rate of NTSC and open groups',
    clip: {
      ...SOURCE,
      fps: 30_000 / 1001,
      container: 'mkv',
      more: [...NOT_COPYABLE, '-preset', 'veryfast', '-g', '50', '-x264-params', 'open-gop=1'],
    },
    container: 'matroska',
    track: 0,
  },
  {
    name: 'WebM',
    clip: { ...SOURCE, container: 'webm', more: ['-auto-alt-ref', '1', '-lag-in-frames', '16'] },
    container: 'matroska',
    track: 0,
  },
  {
    name: 'an MP4 whose own stream is the top rendition',
    clip: {
      ...SOURCE,
      fps: 25,
      more: ['-preset', 'veryfast', '-b:v', '300k', '-g', '60', '-keyint_min', '25'],
    },
    container: 'mov',
    track: 1,
  },
  {
    name: 'a Matroska file whose own stream is the top rendition',
    clip: {
      ...SOURCE,
      container: 'mkv',
      fps: 30_000 / 1001,
      more: ['-preset', 'veryfast', '-b:v', '300k', '-g', '60', '-keyint_min', '25'],
    },
    container: 'matroska',
    track: 1,
  },
];

/** The times of the segments, without their sizes. */
const durations = async (film: Film, track: number): Promise<string[]> =>
  (await readFile(film.path(`r${track}.m3u8`), 'utf8')).split('\n').filter((line) => /^#EXTINF/.test(line));

const shownTimes = async (film: Film, track: number): Promise<readonly number[]> =>
  (await packets({ url: film.path(`r${track}.m3u8`), stream: 'v:0' }))
    .map(({ at }) => Math.round(at * 1e5))
    .sort((a, b) => a - b);

describe.each(CASES)('$name', ({ clip, container, track }) => {
  test('has the same frames, segments and headers in chunks as in one piece', async () => {
    const source = await makeClip(clip);
    const progress: number[] = [];
    await using whole = await encodeFilm(source, { container });
    await using chunked = await encodeFilm(source, {
      container,
      chunkSeconds: 4,
      onProgress: (percent) => progress.push(percent),
    });
    const numbers = await readFrameNumbers(chunked.path(`r${track}.m3u8`));
    expect(numbers).toEqual(await readFrameNumbers(whole.path(`r${track}.m3u8`)));
    expect(new Set(numbers).size).toBeGreaterThan(300);
    expect(await shownTimes(chunked, track)).toEqual(await shownTimes(whole, track));
    const lists = await Promise.all([0, 1].map((id) => durations(chunked, id)));
    expect(lists[track]).toEqual(await durations(whole, track));
    expect(lists[0]).toEqual(lists[1]);
    for (const name of [0, 1, 2].map((id) => `r${id}-init.mp4`))
      expect(await readFile(chunked.path(name))).toEqual(await readFile(whole.path(name)));
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(new Set(progress).size).toBeGreaterThan(4);
    const manifests = await manifestsOf(chunked);
    expect(checkHls(manifests)).toEqual([]);
    expect(checkDash(manifests)).toEqual([]);
    expect(await decode(chunked.path('hls.m3u8'))).toEqual(CLEAN);
    expect(await decode(chunked.path('dash.mpd'))).toEqual(CLEAN);
  });
});
