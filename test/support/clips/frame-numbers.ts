// Reads the numbers that the frames of a numbered clip show.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ffmpegPath, NUMBER_BITS } from './clips.ts';

/** Reads the number of every frame in the order of display; `url` may be a file. */
export async function readFrameNumbers(url: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)(
    ffmpegPath(),
    [
      ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-i', url, '-map', '0:v:0'],
      ...['-fps_mode', 'passthrough', '-vf', `scale=${NUMBER_BITS}:1:flags=area,format=gray`],
      ...['-f', 'rawvideo', '-'],
    ],
    { encoding: 'buffer', maxBuffer: 2 ** 26 },
  );
  return Array.from({ length: stdout.length / NUMBER_BITS }, (_, frame) =>
    [...stdout.subarray(frame * NUMBER_BITS, (frame + 1) * NUMBER_BITS)].reduce(
      (number, luma, bit) => number + (luma > 128 ? 2 ** bit : 0),
      0,
    ),
  );
}
