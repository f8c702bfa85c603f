// Tests that positions lie between their neighbours, in order, or are refused.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { choosePositions, POSITION_GAP } from './item-positions.ts';

const bound = fc.option(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), { nil: null });

test('positions rise strictly between the bounds, or the gap is too small for them', () => {
  fc.assert(
    fc.property(
      bound,
      fc.integer({ min: 0, max: 500 }),
      fc.integer({ min: 1, max: 100 }),
      (low, gap, count) => {
        const high = low === null || gap === 0 ? null : low + gap;
        const positions = choosePositions({ low, high }, count);
        if (!positions) {
          expect(gap).toBeLessThanOrEqual(count);
          return;
        }
        const all = [low ?? -Infinity, ...positions, high ?? Infinity];
        expect(positions).toHaveLength(count);
        expect(all.every((position, index) => index === 0 || position > (all[index - 1] ?? 0))).toBe(true);
      },
    ),
  );
});

test('at the start, positions fall below the first one', () => {
  expect(choosePositions({ low: null, high: 0 }, 2)).toEqual([-2 * POSITION_GAP, -POSITION_GAP]);
});

test('neighbours without a number between them leave no place', () => {
  expect(choosePositions({ low: 1, high: 2 }, 1)).toBeUndefined();
  expect(choosePositions({ low: 1, high: 3 }, 1)).toEqual([2]);
});
