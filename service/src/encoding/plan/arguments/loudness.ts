// Measures loudness and true peak by EBU R128, without a change of the sound.

export type Loudness = {
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

/** Prints its summary when the run ends. `verbose`: it prints no line for each frame. */
export const summaryFilter = (index: number): string => `ebur128@level${index}=peak=true:framelog=verbose`;

const SUMMARY = RegExp(
  String.raw`^\[ebur128@level(\d+) @ [^\]]*\] Summary:\s+Integrated loudness:\s+I:\s+(\S+) LUFS\s[^[]*?` +
    String.raw`True peak:\s+Peak:\s+(\S+) dBFS$`,
  'gm',
);

/** Index of the filter → what it has measured, from the end of the log. */
export const parseSummaries = (log: string): ReadonlyMap<number, Loudness> =>
  new Map(
    [...log.matchAll(SUMMARY)].map(([, index, lufs, peak]) => [
      Number(index),
      toLoudness(Number(lufs), 10 ** (decibelsOf(peak) / 20)),
    ]),
  );

/** Digital silence has a peak of `-inf`. */
const decibelsOf = (peak = '-inf'): number => (peak === '-inf' ? Number.NEGATIVE_INFINITY : Number(peak));

/** From the ends of the two files. */
export function parseLoudness(integrated: string, peak: string): Loudness {
  return toLoudness(lastValue(integrated, 'I'), lastValue(peak, 'true_peak'));
}

const toLoudness = (lufs = SILENCE_LUFS, amplitude = 0): Loudness => ({
  loudnessLufs: lufs > SILENCE_LUFS ? toTenths(lufs) : null,
  truePeakDbtp: amplitude > 0 ? toTenths(20 * Math.log10(amplitude)) : null,
});

function lastValue(text: string, name: string): number | undefined {
  const value = [...text.matchAll(/^lavfi\.r128\.(\w+)=(-?[\d.]+)$/gm)].findLast(
    ([, key]) => key === name,
  )?.[2];
  return value === undefined ? undefined : Number(value);
}

/** ffmpeg prints peaks with three decimals, so quiet ones are not known more precisely. */
const toTenths = (value: number): number => Math.round(value * 10) / 10;
