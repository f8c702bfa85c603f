// Tests the ffmpeg arguments for each encoder of H.264.
import { describe, expect, test } from 'vitest';
import { audioStream, FRAME } from '../../model/source.fixture.ts';
import { toAudioTracks } from '../source/audio-tracks.ts';
import { chooseLadder, DEFAULT_LADDER } from '../ladder/ladder.ts';
import { buildEncodeStep, type EncodePlan, encodeArguments } from './encode-plan.ts';
import { type H264Encoder, HARDWARE_CANDIDATES } from './h264-encoders.ts';

const displaySize = { width: 640, height: 360 };
const rungs = chooseLadder(displaySize, { ladder: { ...DEFAULT_LADDER, extraCodecs: ['hevc'] } });
const plan: Omit<EncodePlan, 'encoder'> = {
  input: { path: '/films/a.mp4', container: 'mov', threads: 2 },
  frame: { ...FRAME, displaySize },
  streams: [],
  videoIndex: 0,
  audio: toAudioTracks([audioStream(1)]),
  timeline: {
    leadInSeconds: 0,
    frameRate: { numerator: 30, denominator: 1 },
    frames: 300,
    durationSeconds: 10,
    holdSeconds: 0,
  },
  rungs: rungs.filter(({ codec }) => codec === 'h264'),
  keyFrames: 'grid',
  folder: '/work',
};
const argumentsFor = (encoder: H264Encoder) => encodeArguments({ ...plan, encoder });
const after = (args: readonly string[], option: string) => args[args.indexOf(option) + 1];
/** The options that only software encodes have. */
const X264_OPTION = /^-(?:crf|sc_threshold|b-pyramid|threads:v)(?::|$)/;

describe.each(['nvenc', 'vaapi'] as const)('arguments for %s', (encoder) => {
  const args = argumentsFor(encoder);

  test('name the encoder, and no option of x264', () => {
    for (const stream of ['0', '1']) expect(after(args, `-c:v:${stream}`)).toBe(`h264_${encoder}`);
    expect(argumentsFor('x264').filter((arg) => X264_OPTION.test(arg))).toHaveLength(6);
    expect(args.filter((arg) => X264_OPTION.test(arg))).toEqual([]);
    expect(args).not.toContain('veryfast');
  });

  test('have the input, audio, key frames, profiles, maximum bit rates and output of x264', () => {
    const options = ['-i', '-filter_complex_threads', '-c:a:0', '-g', '-force_key_frames:v:1'];
    for (const option of [...options, '-profile:v:1', '-maxrate:v:0', '-bufsize:v:0'])
      expect([option, after(args, option)]).toEqual([option, after(argumentsFor('x264'), option)]);
    expect(args.at(-1)).toBe('/work/engine.mpd');
    expect(args.filter((arg) => arg === '-map')).toHaveLength(3);
  });
});

test('only runs whose renditions are all H.264 have arguments for a GPU', () => {
  expect(buildEncodeStep(plan).args).toEqual(argumentsFor('x264'));
  expect(buildEncodeStep(plan).hardwareArgs?.('nvenc')).toEqual(argumentsFor('nvenc'));
  expect(buildEncodeStep({ ...plan, rungs }).hardwareArgs).toBeUndefined();
});

test('VAAPI encodes frames in the memory of the GPU at an average bit rate', () => {
  const args = argumentsFor('vaapi');
  expect(args.slice(0, 4)).toEqual(['-init_hw_device', 'vaapi=gpu', '-filter_hw_device', 'gpu']);
  expect(after(args, '-filter_complex')).toContain('[soft1]format=nv12,hwupload[v1]');
  expect(args).not.toContain('-pix_fmt');
  expect(['-maxrate:v:0', '-b:v:0', '-b:v:1'].map((option) => after(args, option))).toEqual([
    '700k',
    '490k',
    '245k',
  ]);
});

test('NVENC takes the frames of the filter graph as they are', () => {
  const args = argumentsFor('nvenc');
  for (const option of ['-filter_complex', '-pix_fmt'])
    expect(after(args, option)).toBe(after(argumentsFor('x264'), option));
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
