// Chooses the renditions for a source: never larger than the source, and no more bits than it deserves.
import type { PassthroughCodec } from '../../model/audio-track.ts';
import type { Size } from '../../model/source.ts';
import type { ExtraCodec, HdrRange } from '@mediary/contract/enums';
import {
  CODEC_FACTS,
  type Codec,
  type CodecOptions,
  SWITCHING_SETS,
  type SwitchingSet,
  sourceBitrateFactor,
} from '../../model/codecs.ts';

/** H.264 profile. */
type Profile = 'high' | 'main';

/** One rendition to encode. */
export type Rung = Size &
  SwitchingSet & {
    readonly maxKilobits: number;
    readonly profile: Profile;
    readonly options: CodecOptions;
  };

/** `height` is the short side, so that a portrait video gets the same rungs. */
export type LadderRung = {
  readonly height: number;
  /** The limit of H.264 at up to 30 frames per second. */
  readonly maxKilobits: number;
  readonly profile: Profile;
};

/** What operators choose (setting LADDER). */
export type Ladder = {
  /** Largest first; bit rates fall with the heights. */
  readonly rungs: readonly LadderRung[];
  readonly maxHeight: number;
  /** Encoded in addition to H.264. */
  readonly extraCodecs: readonly ExtraCodec[];
  /** Encoded in HDR, for sources in HDR, in addition to the renditions in SDR. */
  readonly hdrCodecs: readonly ExtraCodec[];
  /** Surround sound in these codecs is also copied. */
  readonly audioPassthrough: readonly PassthroughCodec[];
  readonly options: Readonly<Record<Codec, CodecOptions>>;
};

export const DEFAULT_LADDER: Ladder = {
  rungs: [
    { height: 2160, maxKilobits: 16_000, profile: 'high' },
    { height: 1440, maxKilobits: 9000, profile: 'high' },
    { height: 1080, maxKilobits: 5000, profile: 'high' },
    { height: 720, maxKilobits: 2800, profile: 'high' },
    { height: 480, maxKilobits: 1200, profile: 'main' },
    { height: 360, maxKilobits: 700, profile: 'main' },
    { height: 240, maxKilobits: 350, profile: 'main' },
  ],
  maxHeight: 1080,
  extraCodecs: [],
  hdrCodecs: [],
  audioPassthrough: [],
  options: {
    h264: { crf: 23, preset: 'veryfast' },
    av1: { crf: 35, preset: '10' },
    hevc: { crf: 26, preset: 'superfast' },
  },
};

/** The video of a source; what is unknown does not lower a cap. */
export type LadderSource = {
  readonly framesPerSecond?: number;
  /** Average bit rate of the file. */
  readonly kilobits?: number;
  /** Name of the codec in ffmpeg. */
  readonly codec?: string;
  /** The range that renditions in HDR keep; undefined where there is none to keep. */
  readonly hdrRange?: HdrRange | undefined;
};

type LadderOptions = { readonly source?: LadderSource; readonly ladder?: Ladder };

/** Wider videos are scaled down until their long side is this many times the maximum height. */
const WIDEST = 2.4;
/** Minimum ratio between neighbouring rungs; closer rungs cost encoding time without a visible difference. */
const STEP = 0.85;
/** Frames at 60 per second differ less from each other, so twice as many do not need twice the bits. */
const HIGH_RATE = { above: 30.5, factor: 1.5 } as const;
/** Peaks above the average bit rate. At 1 time the average, a re-encode loses 5 points of VMAF; at 1.5, 1. */
const PEAK = 1.5;
/** By the bit rates of Apple's HLS authoring specification, item 1.25. */
const HDR_BITRATE = 1.2;
/** A smaller picture needs more bits per pixel. */
const PIXEL_EXPONENT = 0.75;
/** Long still scenes have a low average, but their key frames need bits, and ours are more frequent. */
const LOWEST_SHARE = 0.2;

/** Rungs for a display size: H.264 first, then each further set with the same sizes; largest first. */
export function chooseLadder(displaySize: Size, options: LadderOptions = {}): readonly Rung[] {
  const { source = {}, ladder = DEFAULT_LADDER } = options;
  const sets = SWITCHING_SETS.filter((set) => isEncoded(set, source, ladder));
  const sizes = chooseSizes(displaySize, ladder);
  return sets.flatMap((set) =>
    sizes.map((size) => ({
      ...size,
      ...set,
      maxKilobits: maxKilobits({ set, size, displaySize }, source, ladder),
      profile: rungFor(size, ladder).profile,
      options: optionsFor(set, ladder),
    })),
  );
}

/** At the `crf` of SDR, 720p in PQ took 295 kbit/s of a scene that takes 1296 in H.264. */
const HDR_CRF_STEP = 5;
/** The lowest `crf` that `LADDER` accepts for HEVC. */
const MIN_HEVC_CRF = 15;

function optionsFor({ codec, range }: SwitchingSet, { options }: Ladder): CodecOptions {
  const chosen = options[codec];
  if (codec !== 'hevc' || range === 'sdr') return chosen;
  return { ...chosen, crf: Math.max(MIN_HEVC_CRF, chosen.crf - HDR_CRF_STEP) };
}

function isEncoded({ codec, range }: SwitchingSet, { hdrRange }: LadderSource, ladder: Ladder): boolean {
  if (range === 'sdr') return codec === 'h264' || ladder.extraCodecs.some((each) => each === codec);
  return range === hdrRange && ladder.hdrCodecs.some((each) => each === codec);
}

function chooseSizes(displaySize: Size, { rungs, maxHeight }: Ladder): readonly Size[] {
  const tallest = Math.min(maxHeight, Math.max(...rungs.map(({ height }) => height)));
  const scale = Math.min(
    1,
    tallest / shortSide(displaySize),
    (WIDEST * tallest) / Math.max(displaySize.width, displaySize.height),
  );
  const top = scaled(displaySize, scale);
  const lower = rungs
    .filter(({ height }) => height <= shortSide(top) * STEP)
    .map(({ height }) => scaled(displaySize, height / shortSide(displaySize)));
  return [top, ...lower];
}

export const shortSide = ({ width, height }: Size): number => Math.min(width, height);

const scaled = ({ width, height }: Size, scale: number): Size => ({
  width: even(width, scale),
  height: even(height, scale),
});

/** The nearest even length that is not larger than the original. */
const even = (length: number, scale: number): number =>
  Math.max(2, Math.min(2 * Math.round((length * scale) / 2), 2 * Math.floor(length / 2)));

/** A size between two rungs has the cap of the larger one. */
function rungFor(size: Size, { rungs }: Ladder): LadderRung {
  const rung = rungs.findLast(({ height }) => height >= shortSide(size)) ?? rungs[0];
  if (!rung) throw new Error('a ladder needs rungs');
  return rung;
}

type SizedRung = { readonly set: SwitchingSet; readonly size: Size; readonly displaySize: Size };

function maxKilobits({ set, size, displaySize }: SizedRung, source: LadderSource, ladder: Ladder): number {
  const rateFactor = (source.framesPerSecond ?? 0) > HIGH_RATE.above ? HIGH_RATE.factor : 1;
  const standard = rungFor(size, ladder).maxKilobits * rateFactor;
  const deserved = Math.max(
    standard * LOWEST_SHARE,
    deservedKilobits(source, pixels(size) / pixels(displaySize)),
  );
  const range = set.range === 'sdr' ? 1 : HDR_BITRATE;
  return Math.ceil(Math.min(standard, deserved) * CODEC_FACTS[set.codec].bitrate * range);
}

/** The bit rate at which H.264 of this share of the pixels keeps the quality of the source. */
function deservedKilobits({ kilobits, codec = '' }: LadderSource, pixelShare: number): number {
  if (kilobits === undefined) return Number.POSITIVE_INFINITY;
  return (kilobits / sourceBitrateFactor(codec)) * PEAK * pixelShare ** PIXEL_EXPONENT;
}

const pixels = ({ width, height }: Size): number => width * height;
