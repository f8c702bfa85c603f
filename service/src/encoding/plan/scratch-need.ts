// Estimates the disk space that an encode needs in the scratch folder.
import { chooseLadder } from './ladder.ts';

type Source = {
  readonly size_bytes: number | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly duration_ms: number | null;
};

/** 1080p, the largest rendition. */
const LARGEST = { width: 1920, height: 1080 };
const AUDIO_KILOBITS = 128;
/** All renditions of a file with a low bit rate, as a multiple of its size: H.264 needs more than HEVC. */
const MAX_GROWTH = 3;
/** Thumbnails, manifests and the headers of segments. */
const EXTRAS_BYTES = 4 * 1024 ** 2;

/** `isCopied`: the worker copies the original from the object store first. */
export function estimateScratchBytes(source: Source, { isCopied }: { readonly isCopied: boolean }): number {
  const sourceBytes = source.size_bytes ?? 0;
  return (isCopied ? sourceBytes : 0) + estimateRenditions(source, sourceBytes) + EXTRAS_BYTES;
}

function estimateRenditions({ width, height, duration_ms: ms }: Source, sourceBytes: number): number {
  const mostBySize = MAX_GROWTH * sourceBytes;
  if (ms === null) return mostBySize;
  const ladder = chooseLadder(width && height ? { width, height } : LARGEST);
  const kilobits = ladder.reduce((sum, { maxKilobits }) => sum + maxKilobits, AUDIO_KILOBITS);
  // Kilobits per second are bits per millisecond.
  return Math.min(mostBySize, Math.ceil((kilobits * ms) / 8));
}
