// Tests the allowlists that keep an untrusted file from opening other files.
import { describe, expect, test } from 'vitest';
import { isDecodable } from './decoders.ts';
import { factsArguments, inputArguments, packetListArguments, audioCheckArguments } from './ffmpeg-input.ts';
import type { SourceStream } from '../../model/source.ts';

const input = { path: '/films/a.mp4', container: 'mov', threads: 2 } as const;
const stream = (index: number, kind: SourceStream['kind'], still = false): SourceStream => ({
  index,
  kind,
  codec: 'h264',
  size: null,
  averageRate: null,
  still,
});
const streams = [stream(0, 'Video'), { ...stream(1, 'Audio'), sampleRate: 48_000 }];
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
  test('exactly the decoders of common codecs, so none for playlists, images or text', () => {
    const decoders = after(inputArguments(input), '-codec_whitelist')?.split(',');
    expect(decoders?.toSorted()).toEqual(
      `aac aac_latm ac3 adpcm_ima_qt adpcm_ima_wav adpcm_ms alac amrnb amrwb av1 dca dnxhd eac3 flac h263 h264
      hevc libaom-av1 libdav1d libopencore_amrnb libopencore_amrwb libopus libvpx libvpx-vp9 mjpeg mlp mp1
      mp1float mp2 mp2float mp3 mp3float mpeg1video mpeg2video mpeg4 opus pcm_alaw pcm_bluray pcm_dvd
      pcm_f32be pcm_f32le pcm_f64be pcm_f64le pcm_mulaw pcm_s16be pcm_s16le pcm_s24be pcm_s24le pcm_s32be
      pcm_s32le pcm_s8 pcm_u8 prores truehd vorbis vp8 vp9 wavpack`.split(/\s+/),
    );
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
      expect(args.slice(0, 4)).toEqual(['-nostdin', '-hide_banner', '-y', '-nostats']);
    }
  });
  test('additional input options come before the file', () => {
    const args = inputArguments(input, ['-itsoffset', '1']);
    expect(after(args, '-itsoffset')).toBe('1');
    expect(args.indexOf('-itsoffset')).toBeLessThan(args.indexOf('-i'));
  });
  test('the facts come from five decoded pictures, logged without checksums', () => {
    const args = factsArguments(input);
    expect([after(args, '-loglevel'), after(args, '-map'), after(args, '-frames:v')]).toEqual([
      'info',
      '0:V:0',
      '5',
    ]);
    expect(after(args, '-vf')).toBe('showinfo=checksum=0');
    expect(args).toEqual(expect.arrayContaining(['-an', '-sn', '-dn']));
    expect(args.slice(-3)).toEqual(['-f', 'null', '-']);
  });
  test('packets are listed without decoding, of codecs unknown to ffmpeg as well', () => {
    const args = packetListArguments(input, { part: 'whole', streams });
    expect([after(args, '-loglevel'), after(args, '-c')]).toEqual(['error', 'copy']);
    expect(args).toContain('-copy_unknown');
    expect(args.slice(-3)).toEqual(['-f', 'framecrc', 'pipe:1']);
  });
  test('audio is checked by decoding one frame of the stream', () => {
    const args = audioCheckArguments(input, 3);
    expect([after(args, '-loglevel'), after(args, '-map'), after(args, '-frames:a')]).toEqual([
      'error',
      '0:3',
      '1',
    ]);
    expect(args.slice(-3)).toEqual(['-f', 'framecrc', 'pipe:1']);
  });
  test('the tail uses original timestamps, the whole file its start', () => {
    expect(packetListArguments(input, { part: 'tail', streams })).toEqual(
      expect.arrayContaining(['-copyts', '-sseof', '-10']),
    );
    expect(packetListArguments(input, { part: 'whole', streams })).not.toContain('-sseof');
    expect(packetListArguments(input, { part: 'whole', streams })).not.toContain('-copyts');
  });
  test('covers, attachments and sound without packets are left out of the list', () => {
    const others = [stream(2, 'Video', true), stream(3, 'Attachment'), stream(4, 'Audio')];
    const args = packetListArguments(input, { part: 'tail', streams: [...streams, ...others] });
    expect(args.filter((_, index) => args[index - 1] === '-map')).toEqual(['0', '-0:2', '-0:3', '-0:4']);
  });
  test.each(['pcm_s24be', 'pcm_s32le', 'pcm_mulaw', 'dts', 'truehd', 'amr_nb', 'aac_latm'])(
    'audio in %s is decoded',
    (codec) => expect(isDecodable({ ...stream(1, 'Audio'), codec }, 'mov')).toBe(true),
  );
  test.each(['Subtitle', 'Data', 'Attachment'] as const)('a stream of the kind %s is not decoded', (kind) =>
    expect(isDecodable(stream(0, kind), 'mov')).toBe(false),
  );
  test.each(['png', 'aac', 'toString'])('video in %s is not decoded', (codec) =>
    expect(isDecodable({ ...stream(0, 'Video'), codec }, 'mov')).toBe(false),
  );
  test.each(['dnxhd', 'prores', 'h263'])('video in %s is decoded', (codec) =>
    expect(isDecodable({ ...stream(0, 'Video'), codec }, 'mov')).toBe(true),
  );
});
