// Names the matrix by which a player of a video computes red, green and blue.
import type { VideoTrack } from '../../model/cmaf-track.ts';
import type { Size, FrameFacts } from '../../model/source.ts';
import { isWideGamut } from './source-facts.ts';

/** Names of the options of `scale`. */
export type ColourMatrix = 'bt709' | 'bt601' | 'bt2020' | 'fcc' | 'smpte240m';

const BY_NAME: Readonly<Record<string, ColourMatrix>> = {
  bt709: 'bt709',
  smpte170m: 'bt601',
  bt470bg: 'bt601',
  bt2020nc: 'bt2020',
  bt2020c: 'bt2020',
  fcc: 'fcc',
  smpte240m: 'smpte240m',
};

export const matrixOfFrame = (frame: FrameFacts): ColourMatrix =>
  BY_NAME[frame.matrix] ?? conventionalMatrix(frame);

/** Without a specified matrix, players choose it by the primaries and the video size. */
function conventionalMatrix(frame: FrameFacts): ColourMatrix {
  if (frame.transfer !== 'sdr' || frame.primaries === 'bt2020') return 'bt2020';
  return isWideGamut(frame) ? 'bt709' : matrixForSize(frame.displaySize);
}

const MIN_HD_SIDE = 720;

const matrixForSize = ({ width, height }: Size): ColourMatrix =>
  Math.min(width, height) >= MIN_HD_SIDE ? 'bt709' : 'bt601';

/** Code points of ISO/IEC 23091-2 (CICP). */
const BY_CODE: Readonly<Record<number, ColourMatrix>> = {
  1: 'bt709',
  4: 'fcc',
  5: 'bt601',
  6: 'bt601',
  7: 'smpte240m',
  9: 'bt2020',
  10: 'bt2020',
};

export type PictureTrack = Pick<VideoTrack, 'size' | 'colour'>;

/** A copy of the video stream has the matrix of the source, unlike the encoded renditions. */
export const matrixOfTrack = ({ size, colour }: PictureTrack): ColourMatrix =>
  BY_CODE[colour?.matrix ?? 0] ?? matrixForSize(size);

/** Names of the values of `-colorspace`. */
const NAMES: Readonly<Record<ColourMatrix, string>> = {
  bt709: 'bt709',
  bt601: 'smpte170m',
  bt2020: 'bt2020nc',
  fcc: 'fcc',
  smpte240m: 'smpte240m',
};

/**
 * Output options by which the file of a copied stream states its colours, as the renditions below it assume
 * them: the stream may state them in part, or not at all.
 */
export const statedColours = (frame: FrameFacts): readonly string[] => [
  '-color_primaries',
  frame.primaries === 'unknown' ? 'bt709' : frame.primaries,
  '-color_trc',
  'bt709',
  '-colorspace',
  NAMES[matrixOfFrame(frame)],
  '-color_range',
  frame.fullRange ? 'pc' : 'tv',
];
