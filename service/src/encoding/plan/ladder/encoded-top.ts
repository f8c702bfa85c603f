// Decides whether the size of a kept copy is encoded too: beside the copy, or instead of it.
import { averageBitrate, type CmafTrack, isVideo, type VideoTrack } from '../../model/cmaf-track.ts';

/** The track of the encoded size, and whether manifests list it instead of the copy. */
export type EncodedTop = { readonly trackId: number; readonly isInstead: boolean };

/** An encode of the copy's size has about the bits per pixel of the next rendition. */
const MAX_BITS_PER_PIXEL = 2;

type EncodedCopy = {
  /** Those of H.264, the copy first. */
  readonly tracks: readonly CmafTrack[];
  /** A player ends at a frame that it cannot decode, while an encode shows what ffmpeg makes of it. */
  readonly isDamaged: boolean;
  /** An unused id. */
  readonly trackId: number;
};

/** Viewers with less bandwidth than a large copy needs would otherwise get a much smaller picture. */
export function chooseEncodedTop({ tracks, isDamaged, trackId }: EncodedCopy): EncodedTop | undefined {
  const [copy, next] = tracks.filter(isVideo);
  const isLarge = copy && next && bitsPerPixel(copy) > MAX_BITS_PER_PIXEL * bitsPerPixel(next);
  return isDamaged || isLarge ? { trackId, isInstead: isDamaged } : undefined;
}

const bitsPerPixel = (track: VideoTrack): number =>
  averageBitrate(track) / (track.size.width * track.size.height);

/** From the largest rendition down, as manifests list them. */
export const sortTracks = (tracks: readonly CmafTrack[], top: EncodedTop | undefined): readonly CmafTrack[] =>
  tracks.toSorted((a, b) => placeOf(a, top) - placeOf(b, top));

/** Behind the copy, whose id is 0. */
const placeOf = ({ id }: CmafTrack, top: EncodedTop | undefined): number => (id === top?.trackId ? 0.5 : id);
