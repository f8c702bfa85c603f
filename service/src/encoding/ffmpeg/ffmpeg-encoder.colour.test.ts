// Tests the colours of encoded videos by their pixels.
import { describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip } from '../../../../test/support/clips/clips.ts';
import { encodeFilm } from '../../../../test/support/clips/film.ts';
import { type Colour, MATRICES, paintStripes, readStripes } from '../../../../test/support/clips/stripes.ts';

const GAMMA = 2.4;
const CODE = 5;
/** In linear light, one code of the source spans many codes near black. */
const NEAR_BLACK = 12;
const SIZE: ClipOptions = { seconds: 0.2, width: 320, height: 180, fps: 25, audio: false };

async function stripesOf(clip: ClipOptions, count: number) {
  await using film = await encodeFilm(await makeClip({ ...SIZE, ...clip }));
  return await readStripes(film.path('r0.m3u8'), count);
}

const tags = (primaries: string, transfer: string, matrix: string) => [
  ...['-color_primaries', primaries, '-color_trc', transfer, '-colorspace', matrix],
];

/** Parts of the reference white in BT.709 → those in other primaries (BT.2087; P3 with a white of D65). */
const FROM_BT709 = {
  bt709: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  smpte170m: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  smpte432: [0.8225, 0.1775, 0, 0.0332, 0.9668, 0, 0.0171, 0.0724, 0.9105],
  bt2020: [0.6274, 0.3293, 0.0433, 0.0691, 0.9195, 0.0114, 0.0164, 0.088, 0.8956],
} as const;

function inPrimaries(primaries: keyof typeof FROM_BT709, colour: Colour): Colour {
  const weights = FROM_BT709[primaries];
  const row = (first: number) =>
    colour.reduce((sum, part, index) => sum + part * (weights[first + index] ?? 0), 0);
  return [row(0), row(3), row(6)];
}

const each = (colour: Colour, map: (part: number) => number): Colour => [
  map(colour[0]),
  map(colour[1]),
  map(colour[2]),
];

const toLinear = (colour: Colour): Colour => each(colour, (part) => part ** GAMMA);

describe('standard dynamic range', () => {
  const BARS: readonly Colour[] = [
    [0.75, 0, 0],
    [0, 0.75, 0],
    [0, 0, 0.75],
    [0.75, 0.5, 0.35],
    [0.5, 0.5, 0.5],
    [1, 1, 1],
  ];
  const ENCODED = ['-qp', '0'];

  test.each([
    ['plain BT.709', { primaries: 'bt709', matrix: 'bt709', bits: 8, fullRange: false }],
    ['full range', { primaries: 'bt709', matrix: 'bt709', bits: 8, fullRange: true }],
    ['BT.601', { primaries: 'smpte170m', matrix: 'smpte170m', bits: 8, fullRange: false }],
    ['P3', { primaries: 'smpte432', matrix: 'bt709', bits: 10, fullRange: false }],
    ['BT.2020', { primaries: 'bt2020', matrix: 'bt2020nc', bits: 10, fullRange: false }],
  ] as const)('%s keeps its colours', async (_, { primaries, matrix, bits, fullRange }) => {
    const wide = BARS.map((bar) => {
      const linear = inPrimaries(primaries, toLinear(bar));
      return each(linear, (part) => part ** (1 / GAMMA));
    });
    const filter = paintStripes(wide, { matrix: MATRICES[matrix], bits, fullRange });
    const range = fullRange ? 'pc' : 'tv';
    const format = bits === 10 ? 'yuv420p10le' : 'yuv420p';
    const more = ['-vf', filter, '-pix_fmt', format, '-color_range', range, ...ENCODED];
    const stripes = await stripesOf({ more: [...more, ...tags(primaries, 'bt709', matrix)] }, BARS.length);
    const isNear = (actual: number, part: number) =>
      Math.abs(actual - 255 * part) <= (part ? CODE : NEAR_BLACK);
    for (const [index, bar] of BARS.entries()) {
      const colour = stripes[index]?.colour ?? [];
      expect(
        bar.every((part, at) => isNear(colour[at] ?? Number.NaN, part)),
        `${bar}: ${colour}`,
      ).toBe(true);
    }
  });
});

/** Part of the PQ signal for a luminance in cd/m² (SMPTE ST 2084). */
function pq(nits: number): number {
  const power = (nits / 10_000) ** (2610 / 16_384);
  return ((3424 / 4096 + (2413 / 128) * power) / (1 + (2392 / 128) * power)) ** (2523 / 32);
}

describe('high dynamic range', () => {
  const NITS = [0, 10, 100, 203, 400, 1000, 4000, 10_000];
  const HDR = ['-c:v', 'libx265', '-pix_fmt', 'yuv420p10le'];
  const coding = { matrix: MATRICES.bt2020nc, bits: 10 } as const;
  const grey = (signal: number): Colour => [signal, signal, signal];
  const encodeHdr = async (colours: readonly Colour[], transfer: string, light: readonly string[]) => {
    const parameters = ['log-level=error', 'lossless=1', ...light].join(':');
    const more = [...HDR, '-x265-params', parameters, '-vf', paintStripes(colours, coding)];
    return stripesOf({ more: [...more, ...tags('bt2020', transfer, 'bt2020nc')] }, colours.length);
  };
  const mastering = (nits: number) =>
    `master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(${nits * 10_000},50)`;

  test.each([
    ['without a light level', [], 1000],
    ['with the peak of a mastering display', ['hdr10=1', mastering(4000)], 4000],
    ['with a light level', ['hdr10=1', mastering(4000), 'max-cll=400,100'], 400],
  ] as const)('PQ %s: white is white, and highlights keep their differences', async (_, light, peak) => {
    const stripes = await encodeHdr(
      NITS.map((nits) => grey(pq(nits))),
      'smpte2084',
      light,
    );
    const luma = new Map(stripes.map((stripe, index) => [NITS[index] ?? 0, stripe.luma]));
    expect(luma.get(0)).toBe(16);
    // Dark tones have the same ratio to the reference white as in the source.
    expect(luma.get(100)).toBeCloseTo(16 + 219 * (100 / 203) ** (1 / GAMMA), -0.5);
    expect(luma.get(203)).toBeGreaterThanOrEqual(16 + 219 * 0.92);
    expect(luma.get(400)).toBeGreaterThan((luma.get(203) ?? 0) + 5);
    expect(luma.get(peak)).toBeGreaterThanOrEqual(234);
    expect(Math.max(...luma.values())).toBeLessThanOrEqual(235);
  });
  test('PQ with a colour keeps its hue', async () => {
    const linear = inPrimaries('bt2020', [0.5, 0, 0]);
    const [red] = await encodeHdr([each(linear, (part) => pq(203 * part)), grey(0)], 'smpte2084', []);
    expect(red?.colour[0]).toBeCloseTo(255 * 0.5 ** (1 / GAMMA), -1);
    expect(Math.max(...(red?.colour.slice(1) ?? [])), String(red?.colour)).toBeLessThanOrEqual(12);
  });
  test('HLG: 75 % is white, and all tones differ', async () => {
    const signals = [0, 0.25, 0.5, 0.75, 0.9, 1, 1.05];
    const stripes = await encodeHdr(signals.map(grey), 'arib-std-b67', []);
    const luma = stripes.map((stripe) => stripe.luma);
    expect(luma[0]).toBe(16);
    expect(luma[3]).toBeGreaterThanOrEqual(16 + 219 * 0.92);
    expect(luma.slice(0, 6)).toEqual([...new Set(luma.slice(0, 6))].toSorted((a, b) => a - b));
    expect(Math.max(...luma)).toBeLessThanOrEqual(235);
  });
});
