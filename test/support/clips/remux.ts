// Remuxed clips: with a cover picture, or with a late first timestamp.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ffmpegPath } from './clips.ts';

const run = promisify(execFile);
const ffmpeg = (...args: string[]) =>
  run(ffmpegPath(), ['-nostdin', '-hide_banner', '-y', '-loglevel', 'error', ...args]);

/** Adds a PNG cover to the clip, in a file of the same container in `folder`. */
export async function addCoverArt(clip: string, folder: string): Promise<string> {
  const cover = join(folder, 'cover.png');
  const path = join(folder, `with-cover${clip.slice(clip.lastIndexOf('.'))}`);
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=size=300x300', '-frames:v', '1', cover);
  const attached = path.endsWith('.mkv')
    ? ['-i', clip, '-c', 'copy', '-attach', cover, '-metadata:s:t', 'mimetype=image/png']
    : ['-i', cover, '-i', clip, '-map', '0', '-map', '1', '-c', 'copy', '-disposition:v:0', 'attached_pic'];
  await ffmpeg(...attached, path);
  return path;
}

/**
 * The clip in Matroska with its first timestamp at about ten seconds, as a recording of a running stream has
 * it.
 */
export async function delayClock(clip: string, folder: string): Promise<string> {
  const path = join(folder, 'late-clock.mkv');
  await ffmpeg('-i', clip, '-c', 'copy', '-output_ts_offset', '10', path);
  return path;
}

/** The clip without its first seconds, which an edit list hides up to the next key frame. */
export async function hideBeginning(clip: string, folder: string): Promise<string> {
  const path = join(folder, 'trimmed.mp4');
  await ffmpeg('-ss', '1.5', '-i', clip, '-c', 'copy', path);
  return path;
}

/** The clip in Matroska with German and English subtitles of this text at 0.5–1.5 s. */
export async function addSubtitles(clip: string, folder: string, text: string): Promise<string> {
  const path = join(folder, 'with-subtitles.mkv');
  const subtitles = join(folder, 'subtitles.srt');
  await writeFile(subtitles, `1\n00:00:00,500 --> 00:00:01,500\n${text}\n`);
  await ffmpeg(
    ...['-i', clip, '-i', subtitles, '-map', '0', '-map', '1', '-map', '1', '-c', 'copy'],
    ...['-c:s:0', 'srt', '-metadata:s:s:0', 'language=ger'],
    ...['-c:s:1', 'ass', '-metadata:s:s:1', 'language=eng', '-metadata:s:s:1', 'title=Signs', path],
  );
  return path;
}

/** The clip in Matroska with subtitles that are pictures, such as discs have. */
export async function addPictureSubtitles(clip: string, folder: string): Promise<string> {
  const path = join(folder, 'with-pictures.mkv');
  const subtitles = join(folder, 'subtitles.sup');
  await writeFile(subtitles, EMPTY_PICTURE);
  await ffmpeg('-i', clip, '-i', subtitles, '-map', '0', '-map', '1', '-c', 'copy', path);
  return path;
}

/** Presentation Graphic Stream: `PG`, times, then a presentation without objects and an end segment. */
const EMPTY_PICTURE = Buffer.concat([
  pgsSegment(0x16, [1, 64, 0, 180, 0x10, 0, 0, 0x80, 0, 0, 0]),
  pgsSegment(0x80, []),
]);

function pgsSegment(type: number, body: readonly number[]): Buffer {
  const head = Buffer.from([0x50, 0x47, 0, 0, 0x23, 0x28, 0, 0, 0, 0, type, 0, body.length]);
  return Buffer.concat([head, Buffer.from(body)]);
}

/** The clip in Matroska with these chapters, in seconds of its own clock. */
export async function addChapters(
  clip: string,
  folder: string,
  chapters: readonly { readonly start: number; readonly title: string }[],
): Promise<string> {
  const path = join(folder, 'with-chapters.mkv');
  const list = join(folder, 'chapters.txt');
  const entries = chapters.map(({ start, title }) =>
    [
      '[CHAPTER]',
      'TIMEBASE=1/1000',
      `START=${1000 * start}`,
      `END=${1000 * start + 1}`,
      `title=${title}`,
    ].join('\n'),
  );
  await writeFile(list, [';FFMETADATA1', ...entries, ''].join('\n'));
  await ffmpeg('-copyts', '-i', clip, '-i', list, '-map', '0', '-map_chapters', '1', '-c', 'copy', path);
  return path;
}
