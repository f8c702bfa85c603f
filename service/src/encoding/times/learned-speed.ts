// Learns from finished encodes how long work takes on this installation, and how far estimates are off.

/** `work`: in millions of pixels, with what waited before it. */
export type TimeSample = { readonly work: number; readonly ms: number };

export type SpeedModel = {
  /** Time of an encode that does not depend on its work. */
  readonly overheadMs: number;
  readonly msPerWork: number;
  /** Real time divided by the estimate: most encodes lie between the lowest and the highest. */
  readonly lowest: number;
  readonly middle: number;
  readonly highest: number;
};

export type Estimate = {
  readonly earliestMs: number;
  readonly expectedMs: number;
  readonly latestMs: number;
};

/** A slow core. */
const DEFAULT_SPEED: SpeedModel = {
  overheadMs: 2000,
  msPerWork: 10,
  lowest: 0.25,
  middle: 1,
  highest: 4,
};

/** Fewer say too little about the spread. */
const MIN_SAMPLES = 5;
const OVERHEADS_MS = [250, 500, 1000, 2000, 4000, 8000, 16_000];
/** What the range leaves out on each side: less than stated, because the load changes. */
const TAIL = 0.07;
/** Where too few samples tell about a tail, the range is wider than all of them by this factor. */
const UNSEEN = 1.5;

export function learnSpeed(samples: readonly TimeSample[]): SpeedModel {
  const usable = samples.filter(({ work, ms }) => work > 0 && ms > 0);
  if (usable.length < MIN_SAMPLES) return DEFAULT_SPEED;
  const models = OVERHEADS_MS.map((overheadMs) => fit(usable, overheadMs));
  return models.reduce((best, model) => (spreadOf(model) < spreadOf(best) ? model : best));
}

export function estimate(model: SpeedModel, work: number): Estimate {
  const ms = rawEstimate(model, work);
  return { earliestMs: ms * model.lowest, expectedMs: ms * model.middle, latestMs: ms * model.highest };
}

type Line = Pick<SpeedModel, 'overheadMs' | 'msPerWork'>;

const rawEstimate = ({ overheadMs, msPerWork }: Line, work: number): number => overheadMs + msPerWork * work;

const spreadOf = ({ lowest, highest }: SpeedModel): number => highest / lowest;

/** The median speed ignores encodes that something else has delayed. */
function fit(samples: readonly TimeSample[], overheadMs: number): SpeedModel {
  const speeds = sorted(samples.map(({ work, ms }) => Math.max(ms - overheadMs, ms / 10) / work));
  const line = { overheadMs, msPerWork: medianOf(speeds) };
  const ratios = sorted(samples.map(({ work, ms }) => ms / rawEstimate(line, work)));
  const tail = (ratios.length + 1) * TAIL;
  const [first, last] = [ratios[0] as number, ratios.at(-1) as number];
  return {
    ...line,
    lowest: tail < 1 ? first / UNSEEN : (ratios[Math.floor(tail) - 1] as number),
    middle: medianOf(ratios),
    highest: tail < 1 ? last * UNSEEN : (ratios[ratios.length - Math.floor(tail)] as number),
  };
}

const sorted = (values: readonly number[]): readonly number[] => values.toSorted((a, b) => a - b);

const medianOf = (values: readonly number[]): number => values[Math.floor(values.length / 2)] as number;
