// Estimates the disk space that an encode needs in the scratch folder.
import type { HdrRange } from '@mediary/contract/enums';
import { AUDIO_KILOBITS } from '../source/audio-tracks.ts';
import { chooseLadder, type Ladder } from './ladder.ts';

type MeasuredSource = {
  readonly size_bytes: number | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly duration_ms: number | null;
  readonly warnings: readonly { readonly code: string }[];
};

/** 1080p, the largest rendition of the default ladder. */
const LARGEST = { width: 1920, height: 1080 };
/** Renditions in PQ and HLG have the same limits. */
const EITHER_RANGE: HdrRange = 'pq';
/** Renditions of one set together are at most this multiple of a source of a low bit rate, such as HEVC. */
const MAX_GROWTH = 3;
/** The most that AC-3 has, and usual for E-AC-3. */
const COPIED_SOUND_KILOBITS = 640;
/** Thumbnails, manifests and the headers of segments. */
const EXTRAS_BYTES = 4 * 1024 ** 2;

type EncodeSetup = {
  /** The worker copies the original from the object store first. */
  readonly isCopied: boolean;
  readonly ladder: Ladder;
};

export function estimateScratchBytes(source: MeasuredSource, { isCopied, ladder }: EncodeSetup): number {
  const sourceBytes = source.size_bytes ?? 0;
  return (isCopied ? sourceBytes : 0) + estimateRenditions(source, sourceBytes, ladder) + EXTRAS_BYTES;
}

function estimateRenditions(
  { width, height, duration_ms: ms, warnings }: MeasuredSource,
  sourceBytes: number,
  ladder: Ladder,
): number {
  const hdrRange = warnings.some(({ code }) => code === 'hdr') ? EITHER_RANGE : undefined;
  const sets = 1 + ladder.extraCodecs.length + (hdrRange ? ladder.hdrCodecs.length : 0);
  const mostBySize = MAX_GROWTH * sets * sourceBytes;
  if (ms === null) return mostBySize;
  const rungs = chooseLadder(width && height ? { width, height } : LARGEST, {
    ladder,
    source: { hdrRange },
  });
  const copied = ladder.audioPassthrough.length > 0 ? COPIED_SOUND_KILOBITS : 0;
  const sound = AUDIO_KILOBITS[2] + copied;
  const kilobits = rungs.reduce<number>((sum, { maxKilobits }) => sum + maxKilobits, sound);
  // Kilobits per second are bits per millisecond.
  return Math.min(mostBySize, Math.ceil((kilobits * ms) / 8));
}
