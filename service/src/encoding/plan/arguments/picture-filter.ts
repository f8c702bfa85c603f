// Builds the filter that makes a picture of a video frame: its size, and the colours of JPEG or WebP.
import { matrixOfTrack, type PictureTrack } from '../source/colour-matrix.ts';

/** Both have the matrix of BT.601, whatever the size. */
const RANGES = { jpeg: 'pc', webp: 'tv' } as const;

type PictureFilter = {
  readonly track: PictureTrack;
  /** Width and height as options of `scale`. */
  readonly size: string;
  readonly format: keyof typeof RANGES;
};

/** All pictures of videos are made by it. */
export const pictureFilter = ({ track, size, format }: PictureFilter): string => {
  const matrices = `in_color_matrix=${matrixOfTrack(track)}:out_color_matrix=bt601`;
  return `scale=${size}:${matrices}:out_range=${RANGES[format]},format=yuv420p`;
};
