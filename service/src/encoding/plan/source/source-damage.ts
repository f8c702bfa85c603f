// Measures how much of a source cannot be decoded, and where (contract B1: `damaged`, `undecodable`).
import type { Warning } from '../../../assets/asset.ts';
import { formatTime } from '../../../captions/caption-file.ts';
import { parseDecodeError } from './decode-errors.ts';
import { type FfmpegInput, COMMON_OPTIONS, inputArguments } from './ffmpeg-input.ts';
import type { Size } from '../../model/source.ts';

export type Damage = {
  /** Pictures that are missing, or shown with invented parts. */
  readonly pictures: number;
  /** Pictures of the source, as far as the decoder has found them. */
  readonly total: number;
  /** How many whole pictures the damaged parts make up. */
  readonly missing: number;
  /** Seconds of the first and the last of the damaged ones. */
  readonly from: number;
  readonly to: number;
};

type DamageReader = { readonly read: (line: string) => void; readonly damage: () => Damage };

/**
 * Decodes the video stream once, and prints each frame on stderr between the errors. With one thread, an
 * error comes right before its frame. The list needs the times of the frames, not their pixels.
 */
export const damageArguments = (input: FfmpegInput, videoIndex: number): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'repeat+info',
  ...inputArguments({ ...input, threads: 1 }),
  '-map',
  `0:${videoIndex}`,
  '-vf',
  "crop='min(16,iw)':'min(16,ih)'",
  '-fps_mode',
  'passthrough',
  '-f',
  'framecrc',
  '-flush_packets',
  '1',
  'pipe:2',
];

const TIME_BASE = /^#tb 0: (\d+)\/(\d+)$/;
const FRAME = /^0, *(-?\d+), /;
/** Decoders of H.264, MPEG-2 and MPEG-4 tell how many blocks of a picture they have invented. */
const CONCEALED = /\bconcealing (\d+) DC, \d+ AC, \d+ MV errors in [A-Z] frame$/;
const BLOCK_PIXELS = 16;
/** Of a picture with an error in it, where the decoder does not tell. */
const UNKNOWN_PART = 0.5;

type DamageSource = { readonly videoIndex: number; readonly size: Size | null };

/** `size`: of the coded picture. */
export function openDamageReader({ videoIndex, size }: DamageSource): DamageReader {
  const blocks = size ? blocksOf(size.width) * blocksOf(size.height) : Number.POSITIVE_INFINITY;
  let [concealed, told] = [0, 0];
  let [tick, time, shown, incomplete, lost] = [0, 0, 0, 0, 0];
  let [from, to] = [Number.POSITIVE_INFINITY, 0];
  let isPending = false;
  const mark = () => {
    [from, to, isPending] = [Math.min(from, time), Math.max(to, time), false];
  };
  const read = (line: string): void => {
    const [, numerator, denominator] = (TIME_BASE.exec(line) ?? []).map(Number);
    if (numerator && denominator) tick = numerator / denominator;
    const frame = FRAME.exec(line);
    if (frame) {
      shown += 1;
      time = Math.max(0, Number(frame[1]) * tick);
      if (isPending) mark();
    }
    const invented = CONCEALED.exec(line)?.[1];
    if (invented !== undefined) {
      told += 1;
      concealed += Math.min(1, Number(invented) / blocks);
    }
    const error = parseDecodeError(line);
    if (error?.stream !== videoIndex) return;
    isPending = true;
    if (error.kind === 'lost') lost += 1;
    else incomplete += 1;
  };
  const damage = () => {
    if (isPending) mark();
    const missing = lost + concealed + UNKNOWN_PART * Math.max(0, incomplete - told);
    return { pictures: incomplete + lost, total: shown + lost, missing, from: Math.min(from, to), to };
  };
  return { read, damage };
}

const blocksOf = (length: number): number => Math.ceil(length / BLOCK_PIXELS);

/** Such a video is not published. */
export const isMostlyMissing = ({ missing, total }: Pick<Damage, 'missing' | 'total'>): boolean =>
  total === 0 || missing > total / 2;

/** `sound`: packets that cannot be decoded. Empty for an intact source. */
export function damageWarnings(damage: Damage | undefined, sound: number): readonly Warning[] {
  const parts = [
    ...(damage && damage.pictures > 0 ? [describePictures(damage)] : []),
    ...(sound > 0 ? [`${sound} ${sound === 1 ? 'packet' : 'packets'} of its sound`] : []),
  ];
  if (parts.length === 0) return [];
  const message = `The file is damaged: ${parts.join(' and ')} cannot be fully decoded.`;
  return [{ code: 'damaged', message }];
}

const describePictures = ({ pictures, total, from, to }: Damage): string =>
  `${pictures} of ${total} pictures, from ${timestamp(from)} to ${timestamp(to)},`;

const timestamp = (seconds: number): string => formatTime(Math.round(seconds * 1000));
