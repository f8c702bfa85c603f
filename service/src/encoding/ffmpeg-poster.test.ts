// Tests that a poster is exactly the frame that players show, with videos that flash once per second.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../../test/support/clips/clips.ts';
import { encodeFilm, type Film } from '../../../test/support/clips/film.ts';
import { openFfmpegEncoder } from './ffmpeg/ffmpeg-encoder.ts';
import { initName } from './model/cmaf-track.ts';
import { choosePosterSource } from './model/thumbnail-choice.ts';

let folder: string;
let film: Film;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-poster-'));
  // With B-frames, and copied.
  film = await encodeFilm(
    await makeClip({ seconds: 6, fps: 30, flashAndBeep: true, more: ['-preset', 'medium', '-g', '60'] }),
    { posterTimeMs: 5000 },
  );
});
afterAll(async () => {
  await film?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const isWhite = async (jpeg: Buffer): Promise<boolean> =>
  ((await sharp(jpeg).stats()).channels[0]?.mean ?? 0) > 128;

async function posterAt(timeMs: number, name = 'poster.jpg'): Promise<Buffer> {
  const [excerpt, output] = [join(folder, 'excerpt.mp4'), join(folder, name)];
  const { track, segment, startSeconds } = choosePosterSource(film.index.tracks, timeMs);
  const files = [initName(track.id), segment.name].map((name) => readFile(film.path(name)));
  await writeFile(excerpt, await Promise.all(files));
  await openFfmpegEncoder({ ffmpegPath: ffmpegPath() }).createPoster({
    excerpt,
    output,
    startSeconds,
    timeMs,
    signal: new AbortController().signal,
  });
  return readFile(output);
}

describe('a poster', () => {
  test.each([
    [0, true],
    [32, true],
    [33, false],
    [999, false],
    [1000, true],
    [1032, true],
    [1033, false],
    [3999, false],
    [4000, true],
    [4033, false],
    [5999, false],
    [60_000, false],
  ])('at %d ms, flash: %j', async (timeMs, expected) => {
    expect(await isWhite(await posterAt(timeMs))).toBe(expected);
  });

  test("is a JPEG of the video's size", async () => {
    expect(await sharp(await posterAt(1500)).metadata()).toMatchObject({
      format: 'jpeg',
      width: 320,
      height: 180,
    });
  });
  test('requested before the encode is created with the video, in addition to the thumbnail', async () => {
    expect(film.files.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['thumb.jpg', 'poster-5000.jpg']),
    );
    expect(await isWhite(await readFile(film.path('poster-5000.jpg')))).toBe(true);
    expect(film.files.map(({ name }) => name).filter((name) => name.includes('excerpt'))).toEqual([]);
  });
  test('of a file that is not a video is rejected', async () => {
    const excerpt = join(folder, 'noise.mp4');
    await writeFile(excerpt, 'no film');
    const request = {
      excerpt,
      output: join(folder, 'none.jpg'),
      startSeconds: 0,
      timeMs: 0,
      signal: new AbortController().signal,
    };
    await expect(openFfmpegEncoder({ ffmpegPath: ffmpegPath() }).createPoster(request)).rejects.toMatchObject(
      {
        code: 'encode_failed',
      },
    );
  });
});
