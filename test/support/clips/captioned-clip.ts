// Clips whose video stream carries closed captions, written into MPEG-2, from which ffmpeg encodes others.
import { readFile, writeFile } from 'node:fs/promises';
import { type Programme, userData } from './caption-bytes.ts';
import { makeOnce } from './clips.ts';

type CaptionedClip = {
  readonly programme: Programme;
  readonly seconds?: number;
  /** Default: H.264 with frames out of order. */
  readonly codec?: keyof typeof CODECS;
  readonly container?: 'mp4' | 'ts' | 'mkv';
};

const FPS = 30;
const CODECS = {
  h264: ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '3', '-x264-params', 'b-adapt=0'],
  hevc: ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error', '-tag:v', 'hvc1'],
  mpeg2video: ['-c:v', 'copy'],
} as const;
const MUXERS = { mp4: 'mp4', ts: 'mpegts', mkv: 'matroska' } as const;
const QUIET = ['-nostdin', '-hide_banner', '-y', '-loglevel', 'error'];

/** Path of a clip of 320×180 with sound at 30 frames per second. */
export async function makeCaptionedClip({
  programme,
  seconds = 8,
  codec = 'h264',
  container = 'mp4',
}: CaptionedClip): Promise<string> {
  const stream = await makeOnce({
    argv: [
      ...QUIET,
      ...['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=${FPS}:duration=${seconds}`],
      ...['-c:v', 'mpeg2video', '-bf', '0', '-g', '15', '-q:v', '6', '-f', 'mpeg2video'],
    ],
    extension: 'm2v',
    change: { name: [...programme], apply: (path) => insertCaptions(path, programme) },
  });
  return makeOnce({
    argv: [
      ...QUIET,
      ...['-fflags', '+genpts', '-f', 'mpegvideo', '-r', String(FPS), '-i', stream],
      ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000', '-t', String(seconds)],
      ...['-map', '0:v', '-map', '1:a', ...CODECS[codec], '-c:a', 'aac', '-f', MUXERS[container]],
    ],
    extension: container,
  });
}

const PICTURE_START = Buffer.from([0, 0, 1, 0]);
const FIRST_SLICE_START = Buffer.from([0, 0, 1, 1]);
const USER_DATA_START = Buffer.from([0, 0, 1, 0xb2]);

/** The stream has no frames out of order, so that its pictures are numbered as they are shown. */
async function insertCaptions(path: string, programme: Programme): Promise<void> {
  const bytes = await readFile(path);
  const parts: Buffer[] = [];
  let end = 0;
  for (let number = 0, at = bytes.indexOf(PICTURE_START); at >= 0; number += 1) {
    const slice = bytes.indexOf(FIRST_SLICE_START, at);
    parts.push(bytes.subarray(end, slice), USER_DATA_START, userData(programme.get(number)));
    end = slice;
    at = bytes.indexOf(PICTURE_START, slice);
  }
  await writeFile(path, Buffer.concat([...parts, bytes.subarray(end)]));
}
