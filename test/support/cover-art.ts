// A video that carries a picture of its cover, as films from a shop or a tagging program do.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ffmpegPath } from './clips.ts';

const run = promisify(execFile);

/** Adds a PNG cover to the clip, in a file of the same container in `folder`. */
export async function addCoverArt(clip: string, folder: string): Promise<string> {
  const cover = join(folder, 'cover.png');
  const path = join(folder, `with-cover${clip.slice(clip.lastIndexOf('.'))}`);
  const ffmpeg = (...args: string[]) =>
    run(ffmpegPath(), ['-nostdin', '-hide_banner', '-y', '-loglevel', 'error', ...args]);
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=size=300x300', '-frames:v', '1', cover);
  const attached = path.endsWith('.mkv')
    ? ['-i', clip, '-c', 'copy', '-attach', cover, '-metadata:s:t', 'mimetype=image/png']
    : ['-i', cover, '-i', clip, '-map', '0', '-map', '1', '-c', 'copy', '-disposition:v:0', 'attached_pic'];
  await ffmpeg(...attached, path);
  return path;
}
