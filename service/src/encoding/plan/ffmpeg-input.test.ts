// Tests the allowlists that keep an untrusted file from opening other files.
import { describe, expect, test } from 'vitest';
import {
  factsArguments,
  inputArguments,
  isDecodable,
  packetListArguments,
  audioCheckArguments,
} from './ffmpeg-input.ts';
import type { SourceStream } from './source-facts.ts';

const input = { path: '/films/a.mp4', container: 'mov', threads: 2 } as const;
const stream = (index: number, kind: SourceStream['kind'], still = false): SourceStream => ({
  index,
  kind,
  codec: 'h264',
  size: null,
  averageRate: null,
  still,
});
const streams = [stream(0, 'Video'), stream(1, 'Audio')];
const after = (args: readonly string[], option: string) => args[args.indexOf(option) + 1];

describe('ffmpeg input', () => {
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
  test('no decoder for playlists, images or text', () => {
    const decoders = after(inputArguments(input), '-codec_whitelist')?.split(',') ?? [];
    expect(decoders).toEqual(
      expect.arrayContaining(['h264', 'hevc', 'libdav1d', 'vp9', 'aac', 'opus', 'mp3float']),
    );
    expect(decoders.filter((name) => ['png', 'svg', 'ass', 'webvtt', 'text'].includes(name))).toEqual([]);
  });
  test('frame size, streams and threads are limited', () => {
    const args = inputArguments(input);
    expect([after(args, '-max_pixels'), after(args, '-max_streams'), after(args, '-threads')]).toEqual([
      '36000000',
      '32',
      '2',
    ]);
  });
  test('the path is a file URL and the last argument', () =>
    expect(inputArguments(input).slice(-2)).toEqual(['-i', 'file:/films/a.mp4']));
  test('every run is guarded so, and reads no terminal', () => {
    for (const args of [
      factsArguments(input),
      packetListArguments(input, { part: 'tail', streams }),
      packetListArguments(input, { part: 'whole', streams }),
      audioCheckArguments(input, 1),
    ]) {
      expect(args.join(' ')).toContain(inputArguments(input).slice(0, 10).join(' '));
      expect(args[0]).toBe('-nostdin');
    }
  });
  test('the tail uses original timestamps, the whole file its start', () => {
    expect(packetListArguments(input, { part: 'tail', streams })).toEqual(
      expect.arrayContaining(['-copyts', '-sseof']),
    );
    expect(packetListArguments(input, { part: 'whole', streams })).not.toContain('-sseof');
    expect(packetListArguments(input, { part: 'whole', streams })).not.toContain('-copyts');
  });
  test('covers and attachments have no packets in time, so they are left out of the list', () => {
    const cover = stream(2, 'Video', true);
    const font = stream(3, 'Attachment');
    const args = packetListArguments(input, { part: 'tail', streams: [...streams, cover, font] });
    expect(args.filter((_, index) => args[index - 1] === '-map')).toEqual(['0', '-0:2', '-0:3']);
  });
  test.each(['pcm_s24be', 'pcm_s32le', 'pcm_mulaw', 'dts', 'truehd', 'amr_nb', 'aac_latm'])(
    'audio in %s is decoded',
    (codec) => expect(isDecodable({ ...stream(1, 'Audio'), codec })).toBe(true),
  );
  test.each(['dnxhd', 'prores', 'h263'])('video in %s is decoded', (codec) =>
    expect(isDecodable({ ...stream(0, 'Video'), codec })).toBe(true),
  );
});
