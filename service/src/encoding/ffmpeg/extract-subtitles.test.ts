// Tests that ffmpeg converts embedded subtitles to the times of the renditions.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../../../test/support/clips/clips.ts';
import { openFfmpegEncoder } from './ffmpeg-encoder.ts';

/** A cue at one second of the film, whose first frame has this time. */
async function makeFilm(folder: string, startSeconds: string): Promise<string> {
  const [cues, film] = [join(folder, 'cues.srt'), join(folder, 'film.mkv')];
  await writeFile(cues, '1\n00:00:01,000 --> 00:00:02,000\nhello\n');
  await promisify(execFile)(ffmpegPath(), [
    ...['-loglevel', 'error', '-itsoffset', startSeconds, '-i', await makeClip({ seconds: 3, audio: false })],
    ...['-itsoffset', startSeconds, '-i', cues, '-map', '0', '-map', '1', '-c', 'copy', film],
  ]);
  return film;
}

test.each([
  ['0', '00:01.000 --> 00:02.000'],
  // The renditions show the first frame during the empty time before it.
  ['0.5', '00:01.500 --> 00:02.500'],
  // The renditions leave such a time out.
  ['5', '00:01.000 --> 00:02.000'],
])('of a video that starts at %s s', async (startSeconds, times) => {
  const folder = await mkdtemp(join(tmpdir(), 'subtitles-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [found] = await openFfmpegEncoder({ ffmpegPath: ffmpegPath() }).extractSubtitles({
    source: await makeFilm(folder, startSeconds),
    container: 'matroska',
    workFolder: folder,
    signal: new AbortController().signal,
  });
  expect(new TextDecoder().decode(found?.bytes)).toContain(`${times}\nhello`);
});
