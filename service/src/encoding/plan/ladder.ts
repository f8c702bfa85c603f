// Which renditions a picture of a given size gets: never larger than the source, even sides, few and sane.

export type Size = { readonly width: number; readonly height: number };

/** One rendition to encode. `side` is the short side, which names the rung whichever way the picture stands. */
export type Rung = Size & { readonly maxKilobits: number; readonly profile: 'high' | 'main' };

/** Short side → bit rate cap and H.264 profile, tallest first. */
const STANDARD = [
  { side: 1080, maxKilobits: 5000, profile: 'high' },
  { side: 720, maxKilobits: 2800, profile: 'high' },
  { side: 480, maxKilobits: 1200, profile: 'main' },
  { side: 360, maxKilobits: 700, profile: 'main' },
] as const;

const TALLEST = STANDARD[0];
/** 2.4 : 1 at 1080; anything wider is scaled down until its long side fits. */
const LONGEST_SIDE = 2592;
/** A rung nearer than this to the one above would cost encoding time and win no viewer. */
const STEP = 0.85;

/** Rungs for a picture as shown, the largest first. */
export function ladderFor(shown: Size): readonly Rung[] {
  const scale = Math.min(
    1,
    TALLEST.side / shortSide(shown),
    LONGEST_SIDE / Math.max(shown.width, shown.height),
  );
  const top = scaled(shown, scale);
  const lower = STANDARD.filter(({ side }) => side <= shortSide(top) * STEP).map(({ side }) =>
    scaled(shown, side / shortSide(shown)),
  );
  return [top, ...lower].map(withCaps);
}

export const shortSide = ({ width, height }: Size): number => Math.min(width, height);

const scaled = ({ width, height }: Size, scale: number): Size => ({
  width: even(width, scale),
  height: even(height, scale),
});

/** The nearest even length that is not above the original. */
const even = (length: number, scale: number): number =>
  Math.max(2, Math.min(2 * Math.round((length * scale) / 2), 2 * Math.floor(length / 2)));

function withCaps(size: Size): Rung {
  const { maxKilobits, profile } = STANDARD.findLast(({ side }) => side >= shortSide(size)) ?? TALLEST;
  return { ...size, maxKilobits, profile };
}
