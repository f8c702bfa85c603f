// Tests that subtitles and chapters of a film get the times of the renditions.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../../../test/support/clips/clips.ts';
import { encodeFilm } from '../../../../test/support/clips/film.ts';
import { openFfmpegEncoder } from './ffmpeg-encoder.ts';

/** A cue and a chapter at one second of the film, whose first frame has this time. */
async function makeFilm(folder: string, startSeconds: string): Promise<string> {
  const [cues, about, film] = ['cues.srt', 'about.txt', 'film.mkv'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const chapters = [0, 1].map((second) => {
    const start = second + Number(startSeconds);
    return `[CHAPTER]\nTIMEBASE=1/1000\nSTART=${start * 1000}\nEND=${start * 1000 + 1000}\ntitle=${second}\n`;
  });
  await writeFile(about, `;FFMETADATA1\n${chapters.join('')}`);
  await writeFile(cues, '1\n00:00:01,000 --> 00:00:02,000\nhello\n');
  await promisify(execFile)(ffmpegPath(), [
    ...['-loglevel', 'error', '-itsoffset', startSeconds, '-i', await makeClip({ seconds: 3, audio: false })],
    ...['-itsoffset', startSeconds, '-i', cues, '-i', about],
    ...['-map', '0', '-map', '1', '-map_chapters', '2', '-c', 'copy', film],
  ]);
  return film;
}

test.each([
  ['0', '00:01.000 --> 00:02.000', [0, 1000]],
  // The renditions show the first frame during the empty time before it.
  ['0.5', '00:01.500 --> 00:02.500', [500, 1500]],
  // The renditions leave such a time out.
  ['5', '00:01.000 --> 00:02.000', [0, 1000]],
])('of a video that starts at %s s', async (startSeconds, times, starts) => {
  const folder = await mkdtemp(join(tmpdir(), 'subtitles-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const source = await makeFilm(folder, startSeconds);
  const [found] = await openFfmpegEncoder({ ffmpegPath: ffmpegPath() }).extractSubtitles({
    source,
    container: 'matroska',
    workFolder: folder,
    signal: new AbortController().signal,
  });
  expect(new TextDecoder().decode(found?.bytes)).toContain(`${times}\nhello`);
  await using film = await encodeFilm(source, { container: 'matroska' });
  expect(film.chapters.map((chapter) => chapter.start_ms)).toEqual(starts);
});
