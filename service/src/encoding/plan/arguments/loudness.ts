// Measures loudness and true peak by EBU R128 during the encode, without a change of the sound.

type Loudness = {
  /** Integrated over the whole track; null for silence. */
  readonly loudnessLufs: number | null;
  /** Null for digital silence. */
  readonly truePeakDbtp: number | null;
};

/** Files in the working folder of ffmpeg, to which each 100 ms append the value so far. */
export const LOUDNESS_FILES = { integrated: 'loudness.txt', peak: 'true-peak.txt' } as const;

/** BS.1770 excludes quieter blocks, so ffmpeg starts with this value. */
const SILENCE_LUFS = -70;

/** For 48 kHz. Measures the stereo mix that is encoded; padding must follow, as it is no sound. */
export const LOUDNESS_FILTER = [
  'aformat=channel_layouts=stereo',
  'ebur128=metadata=1:peak=true',
  `ametadata=print:key=lavfi.r128.I:file=${LOUDNESS_FILES.integrated}`,
  `ametadata=print:key=lavfi.r128.true_peak:file=${LOUDNESS_FILES.peak}`,
].join(',');

/** From the ends of the two files. */
export function parseLoudness(integrated: string, peak: string): Loudness {
  const lufs = lastValue(integrated, 'I');
  const amplitude = lastValue(peak, 'true_peak');
  return {
    loudnessLufs: lufs !== undefined && lufs > SILENCE_LUFS ? toTenths(lufs) : null,
    truePeakDbtp: amplitude !== undefined && amplitude > 0 ? toTenths(20 * Math.log10(amplitude)) : null,
  };
}

function lastValue(text: string, name: string): number | undefined {
  const value = [...text.matchAll(/^lavfi\.r128\.(\w+)=(-?[\d.]+)$/gm)].findLast(
    ([, key]) => key === name,
  )?.[2];
  return value === undefined ? undefined : Number(value);
}

/** ffmpeg prints peaks with three decimals, so quiet ones are not known more precisely. */
const toTenths = (value: number): number => Math.round(value * 10) / 10;
