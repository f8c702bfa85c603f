// Tests that merging renditions does not depend on order, grouping or repetition (contract B6).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EXTRA_CODECS, HDR_RANGES, RENDITION_STATES } from '@mediary/contract/enums';
import { mergeRenditions, type Rendition } from './renditions.ts';

const size = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
const rung: fc.Arbitrary<Rendition> = fc
  .record({
    height: fc.constantFrom(240, 360, 720),
    codec: fc.constantFrom(undefined, ...EXTRA_CODECS),
    range: fc.constantFrom(undefined, ...HDR_RANGES),
    state: fc.constantFrom(...RENDITION_STATES),
    width: size,
    bitrate: fc.option(size, { nil: null }),
  })
  .map(({ height, codec, range, state, width, bitrate }) => ({
    height,
    ...(codec && { codec }),
    ...(range && { dynamic_range: range }),
    state,
    ...(width && { width }),
    ...(bitrate !== undefined && { bitrate }),
  }));
const ladder = fc.array(rung, { maxLength: 5 });
const merge = (...ladders: readonly (readonly Rendition[])[]) => ladders.reduce(mergeRenditions, []);

describe('merged renditions', () => {
  test('are the union by height, the highest first', () => {
    expect(
      merge(
        [
          { height: 240, state: 'ready' },
          { height: 720, state: 'queued' },
        ],
        [{ height: 360, state: 'encoding' }],
      ).map(({ height }) => height),
    ).toEqual([720, 360, 240]);
  });

  test('of another codec are renditions of their own, after those in H.264', () => {
    expect(
      merge([
        { height: 360, codec: 'hevc', state: 'ready' },
        { height: 360, state: 'ready' },
        { height: 720, codec: 'av1', state: 'queued' },
        { height: 720, state: 'ready' },
      ]),
    ).toEqual([
      { height: 720, state: 'ready' },
      { height: 360, state: 'ready' },
      { height: 720, codec: 'av1', state: 'queued' },
      { height: 360, codec: 'hevc', state: 'ready' },
    ]);
  });

  test('in HDR are renditions of their own, after those in SDR', () => {
    expect(
      merge([
        { height: 360, codec: 'hevc', dynamic_range: 'pq', state: 'queued' },
        { height: 360, codec: 'hevc', state: 'ready' },
        { height: 720, codec: 'av1', dynamic_range: 'pq', state: 'ready' },
      ]),
    ).toEqual([
      { height: 360, codec: 'hevc', state: 'ready' },
      { height: 720, codec: 'av1', dynamic_range: 'pq', state: 'ready' },
      { height: 360, codec: 'hevc', dynamic_range: 'pq', state: 'queued' },
    ]);
  });

  test.each([
    ['queued', 'encoding', 'encoding'],
    ['encoding', 'queued', 'encoding'],
    ['encoding', 'failed', 'failed'],
    ['failed', 'encoding', 'failed'],
    ['failed', 'ready', 'ready'],
    ['ready', 'failed', 'ready'],
    ['ready', 'queued', 'ready'],
  ] as const)('that were %s and are reported %s are %s', (known, reported, expected) => {
    expect(merge([{ height: 720, state: known }], [{ height: 720, state: reported }])).toEqual([
      { height: 720, state: expected },
    ]);
  });

  test('keep a width and a bitrate that a later report does not repeat', () => {
    const full: Rendition = { height: 720, width: 1280, state: 'ready', bitrate: 2_800_000 };
    const bare: Rendition = { height: 720, state: 'ready' };
    for (const reported of [
      bare,
      { ...bare, bitrate: null },
      { ...bare, width: 1280 },
      { ...bare, bitrate: 2_800_000 },
    ])
      expect(merge([full], [reported])).toEqual([full]);
    expect(merge([{ ...bare, width: 1280 }], [{ ...bare, bitrate: 2_800_000 }])).toEqual([full]);
  });

  test('of one state keep the greater of each figure', () => {
    const reported: Rendition[] = [
      { height: 720, state: 'ready', bitrate: 900 },
      { height: 720, state: 'ready', bitrate: 1000 },
      { height: 720, state: 'ready', bitrate: 1 },
    ];
    expect(merge(reported)).toEqual([{ height: 720, state: 'ready', bitrate: 1000 }]);
  });

  test('take what belongs to the state that is further on, and only that', () => {
    expect(
      merge(
        [{ height: 720, width: 1280, state: 'encoding', bitrate: 9 }],
        [{ height: 720, state: 'ready', bitrate: 5 }],
      ),
    ).toEqual([{ height: 720, state: 'ready', bitrate: 5 }]);
  });

  test('keep no member that nobody knows', () => {
    const reported: Rendition[] = JSON.parse(
      '[{ "height": 720, "state": "ready", "width": null, "codec": "x", "dynamic_range": "x" }]',
    );
    expect(merge(reported)).toEqual([{ height: 720, state: 'ready' }]);
  });

  test('of nothing are what they were, down to the object', () => {
    const known: Rendition[] = [{ height: 720, state: 'ready' }];
    expect(mergeRenditions(known, [])).toBe(known);
  });

  test('are the same in any order', () => {
    fc.assert(
      fc.property(ladder, ladder, (a, b) => {
        expect(merge(a, b)).toEqual(merge(b, a));
      }),
      { numRuns: 500 },
    );
  });

  test('are the same in any grouping', () => {
    fc.assert(
      fc.property(ladder, ladder, ladder, (a, b, c) => {
        expect(merge(merge(a, b), c)).toEqual(merge(a, merge(b, c)));
      }),
      { numRuns: 500 },
    );
  });

  test('are the same after any repetition', () => {
    fc.assert(
      fc.property(ladder, ladder, (a, b) => {
        expect(merge(a, b, a, b, b)).toEqual(merge(a, b));
      }),
      { numRuns: 500 },
    );
  });

  test('never go back, whatever is reported', () => {
    const rank = (ladderOf: readonly Rendition[], { height, codec, dynamic_range: range }: Rendition) =>
      RENDITION_STATES.indexOf(
        ladderOf.find((one) => one.height === height && one.codec === codec && one.dynamic_range === range)
          ?.state as Rendition['state'],
      );
    fc.assert(
      fc.property(ladder, ladder, (a, b) => {
        for (const rendition of a)
          expect(rank(merge(a, b), rendition)).toBeGreaterThanOrEqual(rank(merge(a), rendition));
      }),
    );
  });
});
