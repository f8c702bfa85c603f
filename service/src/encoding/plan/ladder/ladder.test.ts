// Tests the ladder for all sizes, frame rates and bit rates, with exact values for common ones.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseLadder, DEFAULT_LADDER, type LadderSource, shortSide } from './ladder.ts';

const FULL_HD = { width: 1920, height: 1080 };
const sizes = (width: number, height: number) =>
  chooseLadder({ width, height }).map((rung) => `${rung.width}x${rung.height}`);
const caps = (source: LadderSource, size = FULL_HD) =>
  chooseLadder(size, { source }).map(({ maxKilobits }) => maxKilobits);
const isFalling = (values: readonly number[]) =>
  values.every((value, index) => index === 0 || value <= (values[index - 1] as number));

describe('sizes', () => {
  test.each([
    [3840, 2160, ['1920x1080', '1280x720', '854x480', '640x360', '426x240']],
    [1920, 1080, ['1920x1080', '1280x720', '854x480', '640x360', '426x240']],
    [1280, 720, ['1280x720', '854x480', '640x360', '426x240']],
    [1280, 1080, ['1280x1080', '854x720', '568x480', '426x360', '284x240']],
    [640, 360, ['640x360', '426x240']],
  ])('%i x %i gets the standard heights', (width, height, expected) =>
    expect(sizes(width, height)).toEqual(expected),
  );

  test('a phone held upright gets the same rungs, standing', () =>
    expect(sizes(1080, 1920)).toEqual(['1080x1920', '720x1280', '480x854', '360x640', '240x426']));

  test('a size between two rungs becomes the top rung', () =>
    expect(sizes(1600, 900)).toEqual(['1600x900', '1280x720', '854x480', '640x360', '426x240']));
  test('a rung just below the top is left out', () =>
    expect(sizes(1280, 736)).toEqual(['1280x736', '834x480', '626x360', '418x240']));
  test('smaller than the smallest rung: one rung, the source itself', () => {
    expect(sizes(320, 240)).toEqual(['320x240']);
    expect(sizes(2, 2)).toEqual(['2x2']);
    expect(sizes(1, 1)).toEqual(['2x2']);
  });
  test('odd sides lose a pixel', () => expect(sizes(453, 255)).toEqual(['452x254']));
  test('a strip is scaled until its long side fits', () => {
    expect(sizes(10_000, 100)).toEqual(['2592x26']);
    expect(sizes(5120, 1440)).toEqual(['2592x730', '1706x480', '1280x360', '854x240']);
    expect(sizes(100, 10_000)).toEqual(['26x2592']);
  });
  test('1440p and 2160p are an option of the operator, and never larger than the source', () => {
    const heights = (height: number, maxHeight: number) =>
      chooseLadder({ width: (height * 16) / 9, height }, { ladder: { ...DEFAULT_LADDER, maxHeight } }).map(
        (rung) => rung.height,
      );
    expect(heights(2160, 2160)).toEqual([2160, 1440, 1080, 720, 480, 360, 240]);
    expect(heights(2160, 1440)).toEqual([1440, 1080, 720, 480, 360, 240]);
    expect(heights(1080, 2160)).toEqual([1080, 720, 480, 360, 240]);
    expect(heights(1080, 480)).toEqual([480, 360, 240]);
  });
  test('a ladder of the operator without a rung at the maximum height ends at its tallest rung', () => {
    const rungs = DEFAULT_LADDER.rungs.filter(({ height }) => height === 720 || height === 360);
    expect(
      chooseLadder(FULL_HD, { ladder: { ...DEFAULT_LADDER, rungs } }).map(({ height }) => height),
    ).toEqual([720, 360]);
  });

  const side = fc.integer({ min: 2, max: 16_000 });
  test('are never upscaled, even, in descending order and without duplicates, for all sources', () => {
    fc.assert(
      fc.property(side, side, fc.constantFrom(480, 1080, 2160), (width, height, maxHeight) => {
        const rungs = chooseLadder({ width, height }, { ladder: { ...DEFAULT_LADDER, maxHeight } });
        expect(rungs.length).toBeGreaterThanOrEqual(1);
        for (const rung of rungs) {
          expect((rung.width % 2) + (rung.height % 2)).toBe(0);
          expect(rung.width).toBeLessThanOrEqual(width);
          expect(rung.height).toBeLessThanOrEqual(height);
          expect(shortSide(rung)).toBeLessThanOrEqual(maxHeight);
          expect(Math.max(rung.width, rung.height)).toBeLessThanOrEqual(2.4 * maxHeight);
        }
        expect(rungs.map((rung) => rung.height)).toEqual(
          [...new Set(rungs.map((rung) => rung.height))].sort((a, b) => b - a),
        );
      }),
    );
  });
  test('keep the aspect ratio within rounding', () => {
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

describe('bit rates', () => {
  test('follow the short side', () => {
    expect(caps({}, { width: 1080, height: 1920 })).toEqual([5000, 2800, 1200, 700, 350]);
    expect(caps({}, { width: 1600, height: 900 })).toEqual([5000, 2800, 1200, 700, 350]);
    expect(caps({}, { width: 64, height: 64 })).toEqual([350]);
  });
  test.each([
    [24, 5000],
    [30, 5000],
    [50, 7500],
    [60, 7500],
  ])('at %i frames per second have a limit of %i at 1080p', (framesPerSecond, expected) =>
    expect(caps({ framesPerSecond })[0]).toBe(expected),
  );
  test('of a source of 800 kb/s allow for its peaks, and fall with the pixels', () =>
    expect(caps({ kilobits: 800, codec: 'h264' })).toEqual([1200, 654, 356, 231, 126]));
  test('of a source in a more efficient codec are higher, of an older one lower', () => {
    expect(caps({ kilobits: 800, codec: 'hevc' })[0]).toBe(1715);
    expect(caps({ kilobits: 800, codec: 'mpeg2video' })[0]).toBe(1000);
    expect(caps({ kilobits: 800, codec: 'unheard-of' })[0]).toBe(1200);
  });
  test('of a source with nearly no bits, such as slides, still allow for key frames', () =>
    expect(caps({ kilobits: 20, codec: 'h264' })).toEqual([1000, 560, 240, 140, 70]));

  const source = fc.record({
    framesPerSecond: fc.double({ min: 1, max: 60, noNaN: true }),
    kilobits: fc.double({ min: 0.01, max: 200_000, noNaN: true }),
    codec: fc.constantFrom('h264', 'hevc', 'av1', 'prores', 'mpeg2video', 'other'),
  });
  const size = fc.record({
    width: fc.integer({ min: 2, max: 8000 }),
    height: fc.integer({ min: 2, max: 8000 }),
  });
  test('fall from rung to rung, are positive, and never above those of the ladder', () => {
    fc.assert(
      fc.property(size, source, (displaySize, given) => {
        const limits = caps(given, displaySize);
        expect(isFalling(limits)).toBe(true);
        expect(limits.every((limit) => Number.isInteger(limit) && limit > 0)).toBe(true);
        expect(limits[0]).toBeLessThanOrEqual(7500);
      }),
    );
  });
  test('never fall when the source has more bits or more frames', () => {
    fc.assert(
      fc.property(size, source, source, (displaySize, a, b) => {
        const more = {
          ...a,
          framesPerSecond: Math.max(a.framesPerSecond, b.framesPerSecond),
          kilobits: Math.max(a.kilobits, b.kilobits),
        };
        const [fewer, greater] = [caps(a, displaySize), caps(more, displaySize)];
        expect(fewer.every((limit, index) => limit <= (greater[index] as number))).toBe(true);
      }),
    );
  });
});

describe('HDR', () => {
  const ladder = { ...DEFAULT_LADDER, extraCodecs: ['av1'] as const, hdrCodecs: ['hevc', 'av1'] as const };
  const setsOf = (source: LadderSource) => [
    ...new Set(
      chooseLadder({ width: 640, height: 360 }, { ladder, source }).map(
        (rung) => `${rung.codec} ${rung.range}`,
      ),
    ),
  ];

  test.each(['pq', 'hlg'] as const)('in %s comes after the whole ladder in SDR', (hdrRange) =>
    expect(setsOf({ hdrRange })).toEqual(['h264 sdr', 'av1 sdr', `av1 ${hdrRange}`, `hevc ${hdrRange}`]),
  );
  test('has no renditions for a source in SDR', () => expect(setsOf({})).toEqual(['h264 sdr', 'av1 sdr']));
  test('has all sizes, so that players never leave it, and 1.2 times the bit rate', () => {
    const rungs = chooseLadder(FULL_HD, { ladder, source: { hdrRange: 'pq' } });
    const inSet = (codec: string, range: string) =>
      rungs.filter((rung) => rung.codec === codec && rung.range === range);
    expect(inSet('hevc', 'pq').map(({ height }) => height)).toEqual([1080, 720, 480, 360, 240]);
    expect(inSet('hevc', 'pq').map(({ maxKilobits }) => maxKilobits)).toEqual([4200, 2352, 1008, 588, 294]);
    expect(inSet('av1', 'pq')[0]?.maxKilobits).toBe(3600);
    expect(inSet('av1', 'sdr')[0]?.maxKilobits).toBe(3000);
  });
});

describe('further codecs', () => {
  const rungs = chooseLadder(
    { width: 640, height: 360 },
    { ladder: { ...DEFAULT_LADDER, extraCodecs: ['hevc', 'av1'] } },
  );

  test('come after H.264, with the same sizes', () =>
    expect(rungs.map(({ codec, height }) => [codec, height])).toEqual([
      ['h264', 360],
      ['h264', 240],
      ['av1', 360],
      ['av1', 240],
      ['hevc', 360],
      ['hevc', 240],
    ]));
  test('need fewer bits', () =>
    expect(rungs.map(({ maxKilobits }) => maxKilobits)).toEqual([700, 350, 420, 210, 490, 245]));
  test('have the quality and preset of the ladder', () =>
    expect(rungs.map(({ options }) => options)).toEqual(
      (['h264', 'av1', 'hevc'] as const).flatMap((codec) => [
        DEFAULT_LADDER.options[codec],
        DEFAULT_LADDER.options[codec],
      ]),
    ));
});
