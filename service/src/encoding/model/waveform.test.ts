// Tests what the waveform says about the sound, and how it is drawn.
import { describe, expect, test } from 'vitest';
import { drawWaveform, formatWaveform, partSamplesFor, PICTURE, readWaveform } from './waveform.ts';

async function* linesOf(levels: readonly (readonly [string, string])[]) {
  for (const [at, [min, max]] of levels.entries()) {
    yield `frame:${at}    pts:${at * 1024}   pts_time:${at * 0.02}`;
    yield `lavfi.astats.Overall.Min_level=${min}`;
    yield `lavfi.astats.Overall.Max_level=${max}`;
  }
}

describe('parts of a waveform', () => {
  test.each([
    [0.1, 1024],
    [3, 1024],
    [3600, 96_000],
    [null, 4800],
  ])('of %d seconds have %d samples', (seconds, samples) => {
    expect(partSamplesFor(seconds)).toBe(samples);
  });

  test('have the lowest and the highest sample', async () => {
    const lines = linesOf([
      ['-0.500000', '0.250000'],
      ['0.000000', '0.000000'],
      ['-1.200000', '1.000000'],
      ['-1e-05', '-nan'],
      ['-0.1', '0.1'],
    ]);
    const waveform = await readWaveform(lines, 1024);
    expect(waveform).toEqual({
      partSamples: 1024,
      parts: [
        { min: -0.5, max: 0.25 },
        { min: 0, max: 0 },
        { min: -1, max: 1 },
        { min: -0.1, max: 0.1 },
      ],
    });
    expect(JSON.parse(formatWaveform(waveform))).toEqual({
      version: 2,
      channels: 1,
      sample_rate: 48_000,
      samples_per_pixel: 1024,
      bits: 8,
      length: 4,
      data: [-64, 32, 0, 0, -128, 127, -13, 13],
    });
  });

  test('are joined where the file did not tell its duration, and keep the extremes', async () => {
    const levels = Array.from({ length: 4001 }, (_, at) => (at === 4000 ? '0.9' : at === 7 ? '0.8' : '0.1'));
    const { partSamples, parts } = await readWaveform(linesOf(levels.map((max) => ['-0.1', max])), 4800);
    expect([partSamples, parts.length]).toEqual([3 * 4800, Math.ceil(4001 / 3)]);
    expect([parts[2]?.max, parts.at(-1)?.max, parts[0]?.max]).toEqual([0.8, 0.9, 0.1]);
  });
});

describe('the picture', () => {
  const brightRows = (pixels: Uint8Array, x: number): number =>
    Array.from({ length: PICTURE.height }, (_, y) => pixels[(y * PICTURE.width + x) * 3]).filter(
      (red) => red === 110,
    ).length;

  test('has bars relative to the loudest part, which is as high as in any other picture', () => {
    const pixels = drawWaveform({
      partSamples: 1024,
      parts: [
        { min: -0.1, max: 0.05 },
        { min: -0.02, max: 0.2 },
      ],
    });
    expect(pixels).toHaveLength(PICTURE.width * PICTURE.height * 3);
    expect([brightRows(pixels, 82), brightRows(pixels, PICTURE.width - 88)]).toEqual([220, 440]);
  });

  test('of silence, and of no sound, is a line', () => {
    for (const parts of [[], [{ min: 0, max: 0 }]])
      expect(brightRows(drawWaveform({ partSamples: 1024, parts }), 82)).toBe(4);
  });
});
