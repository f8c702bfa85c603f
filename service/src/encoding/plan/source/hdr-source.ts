// The HDR properties that renditions take over from the source: dynamic range, and metadata for displays.
import type { HdrRange } from '@mediary/contract/enums';
import type {
  Chromaticity,
  FrameFacts,
  SourceStream,
  HdrMetadata,
  MasteringDisplay,
} from '../../model/source.ts';

const SIDE_DATA = String.raw`^\[Parsed_showinfo_\d+ @ \w+\] {3}side data - `;
const NUMBER = String.raw`([\d.]+)`;
// ffmpeg 5.1: "mastering display", "Content Light Level information"; 7.0: "… metadata" after both.
const MASTERING_DISPLAY = RegExp(
  `${SIDE_DATA}mastering display.* has_primaries:1 has_luminance:1 ` +
    String.raw`r\(${NUMBER}, ?${NUMBER}\) g\(${NUMBER}, ?${NUMBER}\) b\(${NUMBER},? ${NUMBER}\) ` +
    String.raw`wp\(${NUMBER}, ?${NUMBER}\) min_luminance=${NUMBER}, max_luminance=${NUMBER}`,
  'im',
);
const LIGHT_LEVEL = RegExp(String.raw`${SIDE_DATA}content light level.* MaxCLL=(\d+), MaxFALL=(\d+)`, 'im');
/** The brightest that PQ can code. */
const MAX_NITS = 10_000;

/** From the log of a source. Values that no display has are omitted: encoders reject them. */
export function parseHdrMetadata(log: string): HdrMetadata {
  const masteringDisplay = toMasteringDisplay(numbersOf(MASTERING_DISPLAY.exec(log)));
  const [maxNits = 0, averageNits = 0] = numbersOf(LIGHT_LEVEL.exec(log));
  const hasLightLevel = maxNits > 0 && maxNits <= MAX_NITS && averageNits <= maxNits;
  return {
    ...(masteringDisplay && { masteringDisplay }),
    ...(hasLightLevel && { lightLevel: { maxNits, averageNits } }),
  };
}

const numbersOf = (match: RegExpExecArray | null): readonly number[] => (match ?? []).slice(1).map(Number);

function toMasteringDisplay(numbers: readonly number[]): MasteringDisplay | undefined {
  const [rx = 0, ry = 0, gx = 0, gy = 0, bx = 0, by = 0, wx = 0, wy = 0, minNits = 0, maxNits = 0] = numbers;
  const coordinates = [rx, ry, gx, gy, bx, by, wx, wy];
  if (!coordinates.every((each) => each > 0 && each < 1)) return undefined;
  if (!(minNits >= 0 && minNits < maxNits && maxNits <= MAX_NITS)) return undefined;
  return { red: [rx, ry], green: [gx, gy], blue: [bx, by], white: [wx, wy], minNits, maxNits };
}

type HdrSource = {
  readonly frame: FrameFacts;
  readonly video: Pick<SourceStream, 'dolbyVisionCompatibility'>;
};

const MIN_BIT_DEPTH = 10;
/** The matrix of BT.2100 without constant luminance, the only one that players decode. */
const MATRICES = ['bt2020nc', 'unknown'];
/** The picture needs Dolby Vision's own decoder. */
const DOLBY_VISION_ONLY = 0;

/**
 * Undefined for SDR, and for a source that only claims HDR: in 8 bits, gradients have visible steps, and
 * with other primaries, players would show wrong colours.
 */
export function findHdrRange({ frame, video }: HdrSource): HdrRange | undefined {
  if (frame.transfer === 'sdr') return undefined;
  const isKept =
    frame.primaries === 'bt2020' &&
    MATRICES.includes(frame.matrix) &&
    frame.bitDepth >= MIN_BIT_DEPTH &&
    video.dolbyVisionCompatibility !== DOLBY_VISION_ONLY;
  return isKept ? frame.transfer : undefined;
}

/** Options of x265, which counts in 0.00002 and in 0.0001 cd/m². */
export function toX265Options({ masteringDisplay, lightLevel }: HdrMetadata): readonly string[] {
  const options = [
    ...(masteringDisplay ? [`master-display=${formatDisplay(masteringDisplay, X265_UNITS)}`] : []),
    ...(lightLevel ? [`max-cll=${lightLevel.maxNits},${lightLevel.averageNits}`] : []),
  ];
  return options.length > 0 ? ['hdr10=1', ...options] : [];
}

/** Options of SVT-AV1. */
export const toSvtAv1Options = ({ masteringDisplay, lightLevel }: HdrMetadata): readonly string[] => [
  ...(masteringDisplay ? [`mastering-display=${formatDisplay(masteringDisplay, PLAIN_UNITS)}`] : []),
  ...(lightLevel ? [`content-light=${lightLevel.maxNits},${lightLevel.averageNits}`] : []),
];

type Units = { readonly chromaticity: (value: number) => number; readonly nits: (value: number) => number };

const X265_UNITS: Units = {
  chromaticity: (value) => Math.round(value * 50_000),
  nits: (value) => Math.round(value * 10_000),
};
const PLAIN_UNITS: Units = { chromaticity: (value) => value, nits: (value) => value };

function formatDisplay(display: MasteringDisplay, { chromaticity, nits }: Units): string {
  const point = ([x, y]: Chromaticity) => `(${chromaticity(x)},${chromaticity(y)})`;
  const { red, green, blue, white, minNits, maxNits } = display;
  return `G${point(green)}B${point(blue)}R${point(red)}WP${point(white)}L(${nits(maxNits)},${nits(minNits)})`;
}
