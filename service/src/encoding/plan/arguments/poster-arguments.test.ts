// Tests the ffmpeg arguments of posters and thumbnails.
import { describe, expect, test } from 'vitest';
import { posterArguments, thumbnailArguments } from './poster-arguments.ts';

const after = (args: readonly string[], option: string) => args[args.indexOf(option) + 1];
/** Option → the argument after it. */
const optionsOf = (args: readonly string[]): Record<string, string | undefined> =>
  Object.fromEntries(args.map((option, index) => [option, args[index + 1]]));
const track = { size: { width: 1280, height: 720 } };
const poster = posterArguments({
  excerpt: '/work/part.mp4',
  output: '/work/poster.jpg',
  track,
  startSeconds: 0,
  timeMs: 0,
});
const thumbnail = thumbnailArguments({ excerpt: '/work/part.mp4', output: '/work/thumb.jpg', track });

describe('poster arguments', () => {
  test.each([
    ['poster', poster],
    ['thumbnail', thumbnail],
  ])('a %s is read from an MP4 file alone', (_, args) => {
    expect(args.slice(0, 4)).toEqual(['-nostdin', '-hide_banner', '-y', '-nostats']);
    const [format, protocols] = [args.indexOf('-f'), args.indexOf('-protocol_whitelist')];
    expect(args.slice(format, format + 4)).toEqual(['-f', 'mov', '-i', 'file:/work/part.mp4']);
    expect(protocols).toBeGreaterThan(0);
    expect(protocols).toBeLessThan(format);
    expect(after(args, '-loglevel')).toBe('error');
  });
  test.each([
    ['poster', poster],
    ['thumbnail', thumbnail],
  ])('a %s is one full-range JPEG without metadata', (_, args) => {
    expect(optionsOf(args)).toMatchObject({
      '-c:v': 'mjpeg',
      '-q:v': '4',
      '-color_range': 'pc',
      '-map_metadata': '-1',
      '-update': '1',
      '-protocol_whitelist': 'file',
      '-f': 'image2',
    });
    expect(args).toContain('-bitexact');
    expect(after(args, '-vf')).toMatch(
      /,scale='min\(1280,iw\)':-2:in_color_matrix=bt709:out_color_matrix=bt601:out_range=pc,format=yuv420p$/,
    );
  });
  test('a poster counts time from the first frame, and every frame overwrites the one before', () => {
    expect(after(poster, '-vf')).toMatch(/^setpts=PTS-STARTPTS,/);
    expect(after(poster, '-fps_mode')).toBe('passthrough');
  });
  test('the thumbnail is the last key frame', () => {
    expect(optionsOf(thumbnail)).toMatchObject({ '-skip_frame': 'nokey', '-frames:v': '1' });
    expect(after(thumbnail, '-vf')).toMatch(/^reverse,scale/);
  });
  test('a poster is extracted from a file, and is the last frame that starts within the millisecond', () => {
    const args = posterArguments({
      excerpt: '/work/part.mp4',
      output: '/work/poster-1500.jpg',
      track,
      startSeconds: 0,
      timeMs: 1500,
    });
    expect([after(args, '-protocol_whitelist'), after(args, '-i'), args.at(-1)]).toEqual([
      'file',
      'file:/work/part.mp4',
      'file:/work/poster-1500.jpg',
    ]);
    expect(after(args, '-vf')).toMatch(/,select='eq\(n,0\)\+lt\(t,1\.500999\)',scale='min\(1280,iw\)':-2/);
  });
  test('the thumbnail is one JPEG of bounded width', () => {
    const args = thumbnailArguments({ excerpt: '/work/part.mp4', output: '/work/thumb.jpg', track });
    expect(after(args, '-vf')).toContain("scale='min(1280,iw)':-2");
    expect(args.at(-1)).toBe('file:/work/thumb.jpg');
  });
});
