// Tests how the arguments of a software encode become those of a hardware encode.
import { describe, expect, test } from 'vitest';
import { HARDWARE_CANDIDATES, toHardwareArguments } from './hardware-arguments.ts';

const SOFTWARE = [
  ...['-nostdin', '-i', '/proc/self/fd/3', '-filter_complex_threads', '2'],
  ...['-filter_complex', '[0:0]fps=30,split=2[v0][n1];[n1]scale=640:360[v1]', '-map', '[v0]', '-map', '[v1]'],
  ...['-threads:v', '2', '-pix_fmt', 'yuv420p', '-sc_threshold', '0', '-g', '60', '-bf', '0'],
  ...['-c:v:0', 'libx264', '-preset:v:0', 'veryfast', '-crf:v:0', '23', '-b-pyramid:v:0', 'none'],
  ...['-c:v:1', 'libx264', '-preset:v:1', 'veryfast', '-crf:v:1', '23', '-b-pyramid:v:1', 'none'],
  ...['-profile:v:0', 'high', '-maxrate:v:0', '5000k', '-profile:v:1', 'main', '-maxrate:v:1', '700k'],
  ...['-c:a', 'aac', '-f', 'dash', '/work/engine.mpd'],
];
const after = (args: readonly string[], option: string) => args[args.indexOf(option) + 1];

describe.each(['nvenc', 'vaapi'] as const)('arguments for %s', (encoder) => {
  const args = toHardwareArguments(SOFTWARE, encoder);

  test('name the encoder, and no option of x264', () => {
    for (const stream of ['0', '1']) expect(after(args, `-c:v:${stream}`)).toBe(`h264_${encoder}`);
    for (const option of ['-crf:v:0', '-sc_threshold', '-b-pyramid:v:1', '-threads:v'])
      expect(args).not.toContain(option);
    expect(args).not.toContain('veryfast');
  });

  test('keep input, audio, key frames, profiles, maximum bit rates and output', () => {
    expect(args).toContain('/proc/self/fd/3');
    expect(after(args, '-filter_complex_threads')).toBe('2');
    expect(after(args, '-c:a')).toBe('aac');
    expect(after(args, '-g')).toBe('60');
    expect(after(args, '-profile:v:1')).toBe('main');
    expect(after(args, '-maxrate:v:0')).toBe('5000k');
    expect(args.at(-1)).toBe('/work/engine.mpd');
    expect(args.filter((arg) => arg === '-map')).toHaveLength(2);
  });

  test('of anything but an x264 encode stay as they are', () => {
    for (const other of [
      ['-i', 'a.mp4', '-c:v', 'copy', 'b.mp4'],
      ['-i', 'a.mp4', '-frames:v', '1', 'b.jpg'],
      ['-i', 'a.mp4', '-c:v:0', 'libx264', '-c:v:1', 'libx265', 'b.mp4'],
    ])
      expect(toHardwareArguments(other, encoder)).toBe(other);
  });
});

test('frames are copied to a GPU that is used through VAAPI', () => {
  const args = toHardwareArguments(SOFTWARE, 'vaapi');
  expect(args.slice(0, 4)).toEqual(['-init_hw_device', 'vaapi=gpu', '-filter_hw_device', 'gpu']);
  expect(after(args, '-filter_complex')).toBe(
    '[0:0]fps=30,split=2[soft0][n1];[n1]scale=640:360[soft1];' +
      '[soft0]format=nv12,hwupload[v0];[soft1]format=nv12,hwupload[v1]',
  );
  expect(args).not.toContain('-pix_fmt');
  expect(after(args, '-b:v:0')).toBe('3500k');
  expect(after(args, '-b:v:1')).toBe('490k');
});

test('NVENC takes the frames of the filter graph as they are', () => {
  const args = toHardwareArguments(SOFTWARE, 'nvenc');
  expect(after(args, '-filter_complex')).toBe(after(SOFTWARE, '-filter_complex'));
  expect(after(args, '-pix_fmt')).toBe('yuv420p');
  expect(args).toEqual(expect.arrayContaining(['-forced-idr:v:0', '-cq:v:1']));
});

test('every setting names its candidates', () => {
  expect(HARDWARE_CANDIDATES).toEqual({
    software: [],
    auto: ['nvenc', 'vaapi'],
    nvenc: ['nvenc'],
    vaapi: ['vaapi'],
  });
});
