// Tests the ffmpeg arguments of renditions in HDR, and of those in SDR beside them.
import { describe, expect, test } from 'vitest';
import { type EncodePlan, encodeArguments } from './encode-plan.ts';
import { chooseLadder, DEFAULT_LADDER } from '../ladder/ladder.ts';
import { FRAME } from '../../model/source.fixture.ts';
import type { FrameFacts } from '../../model/source.ts';

const displaySize = { width: 640, height: 360 };
const frame: FrameFacts = {
  ...FRAME,
  transfer: 'pq',
  primaries: 'bt2020',
  bitDepth: 10,
  matrix: 'bt2020nc',
  pixelFormat: 'yuv420p10le',
};
const plan: Omit<EncodePlan, 'rungs' | 'frame'> = {
  input: { path: '/films/a.mp4', container: 'mov', threads: 2 },
  streams: [],
  videoIndex: 0,
  audio: [],
  timeline: {
    leadInSeconds: 0,
    frameRate: { numerator: 30, denominator: 1 },
    frames: 300,
    durationSeconds: 10,
    holdSeconds: 0,
  },
  encoder: 'x264',
  keyFrames: 'grid',
  folder: '/work',
};
/** Option → the argument after it. */
const optionsOf = (args: readonly string[]): Record<string, string | undefined> =>
  Object.fromEntries(args.map((option, index) => [option, args[index + 1]]));

describe('HDR', () => {
  const hdrMetadata = { lightLevel: { maxNits: 1000, averageNits: 400 } };
  const ladder = { ...DEFAULT_LADDER, extraCodecs: ['hevc'] as const, hdrCodecs: ['av1', 'hevc'] as const };
  const optionsIn = (codec: string, range: 'sdr' | 'pq' | 'hlg') => {
    const source = { hdrRange: range === 'hlg' ? range : ('pq' as const) };
    const all = chooseLadder(displaySize, { ladder, source });
    const rungs = all.filter((rung) => rung.codec === codec && rung.range === range);
    const transfer = source.hdrRange;
    return optionsOf(encodeArguments({ ...plan, rungs, frame: { ...frame, transfer, hdrMetadata } }));
  };

  test('in HEVC has a lower crf than SDR', () => {
    const crfOf = (codec: string, range: 'sdr' | 'pq') => optionsIn(codec, range)['-crf:v:0'];
    expect([crfOf('hevc', 'sdr'), crfOf('hevc', 'pq'), crfOf('av1', 'pq')]).toEqual(['26', '21', '35']);
  });

  test.each([
    ['pq', 'smpte2084'],
    ['hlg', 'arib-std-b67'],
  ] as const)('in %s has ten bits in BT.2020', (range, transfer) =>
    expect(optionsIn('hevc', range)).toMatchObject({
      '-pix_fmt': 'yuv420p10le',
      '-color_primaries': 'bt2020',
      '-color_trc': transfer,
      '-colorspace': 'bt2020nc',
      '-color_range': 'tv',
    }),
  );
  test('states the metadata of the source to both encoders', () => {
    expect(optionsIn('hevc', 'pq')['-x265-params:v:1']).toMatch(/:pools=2:hdr10=1:max-cll=1000,400$/);
    expect(optionsIn('av1', 'pq')['-svtav1-params:v:1']).toMatch(/:content-light=1000,400$/);
  });
  test('does not change the renditions in SDR beside it', () => {
    const sdr = optionsIn('hevc', 'sdr');
    expect(sdr['-x265-params:v:1']).toMatch(/:pools=2$/);
    expect(sdr).toMatchObject({ '-pix_fmt': 'yuv420p', '-color_trc': 'bt709' });
    expect(sdr['-filter_complex']).toContain('tonemap=');
  });
  test('has the key frames of H.264', () => {
    const option = '-force_key_frames:v:1';
    expect(optionsIn('hevc', 'pq')[option]).toBe(optionsIn('h264', 'sdr')[option]);
  });
});
