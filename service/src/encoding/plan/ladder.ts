// Chooses the renditions for a video size: never larger than the source, with even sides.

export type Size = { readonly width: number; readonly height: number };

/** One rendition to encode. */
export type Rung = Size & { readonly maxKilobits: number; readonly profile: 'high' | 'main' };

/** Short side → maximum bit rate and H.264 profile, largest first. */
const STANDARD = [
  { side: 1080, maxKilobits: 5000, profile: 'high' },
  { side: 720, maxKilobits: 2800, profile: 'high' },
  { side: 480, maxKilobits: 1200, profile: 'main' },
  { side: 360, maxKilobits: 700, profile: 'main' },
] as const;

const TALLEST = STANDARD[0];
/** 2.4 : 1 at 1080; wider videos are scaled down to this long side. */
const LONGEST_SIDE = 2592;
/** Minimum ratio between neighbouring rungs; closer rungs cost encoding time without a visible difference. */
const STEP = 0.85;

/** Rungs for a display size, largest first. */
export function chooseLadder(displaySize: Size): readonly Rung[] {
  const scale = Math.min(
    1,
    TALLEST.side / shortSide(displaySize),
    LONGEST_SIDE / Math.max(displaySize.width, displaySize.height),
  );
  const top = scaled(displaySize, scale);
  const lower = STANDARD.filter(({ side }) => side <= shortSide(top) * STEP).map(({ side }) =>
    scaled(displaySize, side / shortSide(displaySize)),
  );
  return [top, ...lower].map(withCaps);
}

export const shortSide = ({ width, height }: Size): number => Math.min(width, height);

const scaled = ({ width, height }: Size, scale: number): Size => ({
  width: even(width, scale),
  height: even(height, scale),
});

/** The nearest even length that is not larger than the original. */
const even = (length: number, scale: number): number =>
  Math.max(2, Math.min(2 * Math.round((length * scale) / 2), 2 * Math.floor(length / 2)));

function withCaps(size: Size): Rung {
  const { maxKilobits, profile } = STANDARD.findLast(({ side }) => side >= shortSide(size)) ?? TALLEST;
  return { ...size, maxKilobits, profile };
}
