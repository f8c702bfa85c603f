// Tests that a run of ffmpeg that made nothing is a failure.
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../../../test/support/clips/clips.ts';
import { encodeFilm } from '../../../../test/support/clips/film.ts';
import { createExtra } from './ffmpeg-extras.ts';

test('a frame is made of its segment, and a time without a frame is a failure', async () => {
  await using film = await encodeFilm(await makeClip({ seconds: 1 }));
  const [excerpt, output] = [film.path('excerpt.mp4'), film.path('frame.jpg')];
  await writeFile(
    excerpt,
    await Promise.all(['r0-init.mp4', 'r0-00001.m4s'].map((name) => readFile(film.path(name)))),
  );
  const request = { kind: 'frame', excerpt, output, frameRate: 30, width: 160 } as const;
  const frameAt = (seconds: number) =>
    createExtra({ ffmpegPath: ffmpegPath() }, { ...request, seconds, signal: new AbortController().signal });
  await expect(frameAt(99)).rejects.toMatchObject({ code: 'encode_failed' });
  await frameAt(0.5);
  expect((await readFile(output)).subarray(0, 2).toString('hex')).toBe('ffd8');
});
