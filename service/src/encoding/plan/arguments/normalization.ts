// Brings sound to a target loudness (EBU R128): one gain for the whole track, and a limiter of true peaks.
import type { AudioRendition } from '../../model/audio-track.ts';
import type { Loudness } from './loudness.ts';

export type LoudnessTarget = {
  readonly lufs: number;
  /** Of the encoded sound. */
  readonly maxPeakDbtp: number;
};

/** The change of one audio rendition. */
export type Normalization = {
  readonly gainDb: number;
  /** Null: no peak reaches it, so no limiter runs. */
  readonly ceilingDbtp: number | null;
};

/** Quieter sound is noise of a room or a device. */
const MIN_LUFS = -50;
const MAX_GAIN_DB = 20;
/** A limiter that lowers peaks further distorts, and takes more than 1 LU from the whole. */
const MAX_LIMITING_DB = 6;
/** LU that the whole loses for each dB that the highest peak loses: 0 with few peaks, 0.2 with many. */
const LOSS_PER_LIMITED_DB = 0.1;
/** The AAC encoder raises peaks: those of noise by 1.3 dB, of speech and music by up to 0.7 dB. */
const CODEC_HEADROOM_DB = 1.5;

/** Null: the sound stays as it is. Sound below 400 ms has no loudness. */
export function chooseNormalization(
  { loudnessLufs, truePeakDbtp }: Loudness,
  target: LoudnessTarget,
): Normalization | null {
  if (loudnessLufs === null || truePeakDbtp === null || loudnessLufs < MIN_LUFS) return null;
  const ceilingDbtp = target.maxPeakDbtp - CODEC_HEADROOM_DB;
  const most = Math.max(0, Math.min(MAX_GAIN_DB, ceilingDbtp + MAX_LIMITING_DB - truePeakDbtp));
  const wanted = Math.min(target.lufs - loudnessLufs, most);
  const limited = Math.max(0, truePeakDbtp + wanted - ceilingDbtp);
  const gainDb = Math.round(10 * Math.min(wanted + LOSS_PER_LIMITED_DB * limited, most)) / 10;
  const isLimited = truePeakDbtp + gainDb > ceilingDbtp;
  return gainDb === 0 && !isLimited ? null : { gainDb, ceilingDbtp: isLimited ? ceilingDbtp : null };
}

const LAYOUTS: Readonly<Record<AudioRendition['channels'], string>> = { 2: 'stereo', 6: '5.1' };

/** A later mix of the channels would change the loudness. */
export const layoutFilter = (channels: AudioRendition['channels']): string =>
  `aformat=channel_layouts=${LAYOUTS[channels]}`;

/** Peaks between samples at 48 kHz are samples at four times this rate (BS.1770, annex 2). */
const PEAK_RATE = 192_000;

/** For 48 kHz. Empty where the sound stays as it is. `level` would undo the limit. */
export const normalizationFilters = (
  normalization: Normalization | null | undefined,
  channels: AudioRendition['channels'],
): readonly string[] =>
  normalization
    ? [
        layoutFilter(channels),
        gainFilter(normalization),
        ...(normalization.ceilingDbtp === null ? [] : limiterFilters(normalization.ceilingDbtp)),
      ]
    : [];

export const gainFilter = ({ gainDb }: Normalization): string => `volume=${gainDb}dB:precision=float`;

const limiterFilters = (ceilingDbtp: number): readonly string[] => [
  `aresample=${PEAK_RATE}`,
  `alimiter=limit=${(10 ** (ceilingDbtp / 20)).toFixed(4)}:attack=5:release=50:level=false:latency=true`,
  'aresample=48000',
];
