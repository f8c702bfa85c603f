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

/** The clip in Matroska with a subtitle track. */
export async function addSubtitles(clip: string, folder: string): Promise<string> {
  const path = join(folder, 'with-subtitles.mkv');
  const text = join(folder, 'subtitles.srt');
  await writeFile(text, '1\n00:00:00,000 --> 00:00:01,000\nHello\n');
  await ffmpeg('-i', clip, '-i', text, '-map', '0', '-map', '1', '-c', 'copy', '-c:s', 'srt', path);
  return path;
}
