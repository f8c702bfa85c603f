// The lists that keep an untrusted file from opening others are worth a test of their own.
import { describe, expect, test } from 'vitest';
import { factsArguments, inputArguments, packetListArguments } from './engine-input.ts';

const input = { path: '/films/a.mp4', container: 'mov', threads: 2 } as const;
const after = (args: readonly string[], option: string) => args[args.indexOf(option) + 1];

describe('engine input', () => {
  test('files alone, through named demuxers alone', () => {
    const args = inputArguments(input);
    expect(after(args, '-protocol_whitelist')).toBe('file');
    expect(after(args, '-format_whitelist')?.split(',')).toEqual([
      'mov',
      'mp4',
      'm4a',
      '3gp',
      '3g2',
      'mj2',
      'matroska',
      'webm',
      'mpegts',
    ]);
    expect(after(args, '-f')).toBe('mov');
  });
  test('no decoder for playlists, pictures or text', () => {
    const decoders = after(inputArguments(input), '-codec_whitelist')?.split(',') ?? [];
    expect(decoders).toEqual(
      expect.arrayContaining(['h264', 'hevc', 'libdav1d', 'vp9', 'aac', 'opus', 'mp3float']),
    );
    expect(decoders.filter((name) => ['png', 'svg', 'ass', 'webvtt', 'text'].includes(name))).toEqual([]);
  });
  test('pictures, streams and threads are bounded', () => {
    const args = inputArguments(input);
    expect([after(args, '-max_pixels'), after(args, '-max_streams'), after(args, '-threads')]).toEqual([
      '36000000',
      '32',
      '2',
    ]);
  });
  test('the path is named as a file and comes last', () =>
    expect(inputArguments(input).slice(-2)).toEqual(['-i', 'file:/films/a.mp4']));
  test('every run is guarded so, and reads no terminal', () => {
    for (const args of [
      factsArguments(input),
      packetListArguments(input, 'tail'),
      packetListArguments(input, 'whole'),
    ]) {
      expect(args.join(' ')).toContain(inputArguments(input).slice(0, 10).join(' '));
      expect(args[0]).toBe('-nostdin');
    }
  });
  test("the tail is read in the file's own clock, the whole from its start", () => {
    expect(packetListArguments(input, 'tail')).toEqual(expect.arrayContaining(['-copyts', '-sseof']));
    expect(packetListArguments(input, 'whole')).not.toContain('-sseof');
    expect(packetListArguments(input, 'whole')).not.toContain('-copyts');
  });
});
