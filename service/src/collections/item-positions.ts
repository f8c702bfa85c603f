// Chooses positions of assets between their neighbours.

/** Positions at the ends are this far apart, so that 20 moves to one place need no renumbering. */
export const POSITION_GAP = 2 ** 20;

/** Null: nothing is on this side. */
export type Bounds = { readonly low: number | null; readonly high: number | null };

/** Rising positions between the bounds; undefined if the gap is too small. */
export function choosePositions({ low, high }: Bounds, count: number): readonly number[] | undefined {
  if (low !== null && high !== null) {
    const step = Math.floor((high - low) / (count + 1));
    return step < 1 ? undefined : rising(low, step, count);
  }
  if (high !== null) return rising(high - (count + 1) * POSITION_GAP, POSITION_GAP, count);
  return rising(low ?? 0, POSITION_GAP, count);
}

const rising = (low: number, step: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => low + step * (index + 1));
