// Tests the ladder for all sizes, with exact values for common ones.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseLadder, shortSide } from './ladder.ts';

const sizes = (width: number, height: number) =>
  chooseLadder({ width, height }).map((rung) => `${rung.width}x${rung.height}`);

describe('ladder', () => {
  test.each([
    [3840, 2160, ['1920x1080', '1280x720', '854x480', '640x360']],
    [1920, 1080, ['1920x1080', '1280x720', '854x480', '640x360']],
    [1280, 720, ['1280x720', '854x480', '640x360']],
    [1280, 1080, ['1280x1080', '854x720', '568x480', '426x360']],
    [640, 360, ['640x360']],
  ])('%i x %i gets the standard heights', (width, height, expected) =>
    expect(sizes(width, height)).toEqual(expected),
  );

  test('a phone held upright gets the same rungs, standing', () =>
    expect(sizes(1080, 1920)).toEqual(['1080x1920', '720x1280', '480x854', '360x640']));

  test('a size between two rungs becomes the top rung', () =>
    expect(sizes(1600, 900)).toEqual(['1600x900', '1280x720', '854x480', '640x360']));
  test('a rung just below the top is left out', () =>
    expect(sizes(1280, 736)).toEqual(['1280x736', '834x480', '626x360']));
  test('smaller than the smallest rung: one rung, the source itself', () => {
    expect(sizes(320, 240)).toEqual(['320x240']);
    expect(sizes(2, 2)).toEqual(['2x2']);
    expect(sizes(1, 1)).toEqual(['2x2']);
  });
  test('odd sides lose a pixel', () => expect(sizes(853, 359)).toEqual(['852x358']));
  test('a strip is scaled until its long side fits', () => {
    expect(sizes(10_000, 100)).toEqual(['2592x26']);
    expect(sizes(5120, 1440)).toEqual(['2592x730', '1706x480', '1280x360']);
    expect(sizes(100, 10_000)).toEqual(['26x2592']);
  });
  test('caps follow the short side', () => {
    expect(chooseLadder({ width: 1080, height: 1920 }).map((rung) => rung.maxKilobits)).toEqual([
      5000, 2800, 1200, 700,
    ]);
    expect(chooseLadder({ width: 1600, height: 900 }).map((rung) => rung.maxKilobits)).toEqual([
      5000, 2800, 1200, 700,
    ]);
    expect(chooseLadder({ width: 64, height: 64 }).map((rung) => rung.maxKilobits)).toEqual([700]);
  });

  const side = fc.integer({ min: 2, max: 16_000 });
  test('rungs are never upscaled, even, in descending order and without duplicates, for all sizes', () => {
    fc.assert(
      fc.property(side, side, (width, height) => {
        const rungs = chooseLadder({ width, height });
        expect(rungs.length).toBeGreaterThanOrEqual(1);
        for (const rung of rungs) {
          expect((rung.width % 2) + (rung.height % 2)).toBe(0);
          expect(rung.width).toBeLessThanOrEqual(width);
          expect(rung.height).toBeLessThanOrEqual(height);
          expect(shortSide(rung)).toBeLessThanOrEqual(1080);
          expect(Math.max(rung.width, rung.height)).toBeLessThanOrEqual(2592);
        }
        expect(rungs.map((rung) => rung.height)).toEqual(
          [...new Set(rungs.map((rung) => rung.height))].sort((a, b) => b - a),
        );
      }),
    );
  });
  test('the aspect ratio is kept within rounding', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 360, max: 8000 }),
        fc.integer({ min: 360, max: 8000 }),
        (width, height) => {
          for (const rung of chooseLadder({ width, height })) {
            expect(Math.abs(rung.width * height - rung.height * width)).toBeLessThanOrEqual(
              2 * (width + height),
            );
          }
        },
      ),
    );
  });
});
