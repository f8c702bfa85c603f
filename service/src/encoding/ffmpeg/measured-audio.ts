// Describes the encoded audio tracks, with the loudness that ffmpeg measured during the encode.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { AudioFacts } from '../../lifecycle/decisions/stream-report.ts';
import type { AudioTrack } from '../model/audio-track.ts';
import { LOUDNESS_FILES, parseLoudness } from '../plan/arguments/loudness.ts';
import type { Normalization } from '../plan/arguments/normalization.ts';

/** Larger than several lines. The values at the end of a file are those of the whole track. */
const END_BYTES = 4096;

type MeasuredRun = {
  /** Working folder of the run with the audio. */
  readonly folder: string;
  /** Of the renditions of the tracks. */
  readonly normalization: readonly (Normalization | null)[];
};

/** Only the default track is measured. */
export async function readAudioFacts(
  tracks: readonly AudioTrack[],
  { folder, normalization }: MeasuredRun,
): Promise<readonly AudioFacts[]> {
  if (tracks.length === 0) return [];
  const { loudnessLufs, truePeakDbtp } = parseLoudness(
    await readEnd(join(folder, LOUDNESS_FILES.integrated)),
    await readEnd(join(folder, LOUDNESS_FILES.peak)),
  );
  return toAudioFacts(tracks, normalization).map((facts) =>
    facts.default ? { ...facts, loudness_lufs: loudnessLufs, true_peak_dbtp: truePeakDbtp } : facts,
  );
}

/** Before the loudness is measured. The stereo renditions come first, in the order of the tracks. */
export const toAudioFacts = (
  tracks: readonly AudioTrack[],
  normalization: readonly (Normalization | null)[],
): readonly AudioFacts[] =>
  tracks.map(({ language, name, codec, channels, isDefault }, position) => ({
    language,
    name,
    codec,
    channels,
    default: isDefault,
    loudness_lufs: null,
    true_peak_dbtp: null,
    gain_db: normalization[position]?.gainDb ?? null,
  }));

async function readEnd(path: string): Promise<string> {
  await using file = await open(path);
  const { size } = await file.stat();
  const at = Math.max(0, size - END_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, at);
  return buffer.toString('latin1', 0, bytesRead);
}
