// Plans the parts of a video that its animated preview shows (contract B5).

/** Seconds since the start of the video. */
export type PreviewPart = { readonly start: number; readonly end: number };

/** Maximum width and height in pixels. */
export const PREVIEW_LENGTH = 480;
const PARTS = 4;
const PART_SECONDS = 1;
/** Length of the preview of a video that is too short for several parts. */
const SHORT_SECONDS = 4;

/** Parts in the middle of four equal stretches, or the beginning of a short video. */
export function planPreview(seconds: number): readonly PreviewPart[] {
  if (seconds < 2 * PARTS * PART_SECONDS) return [{ start: 0, end: Math.min(seconds, SHORT_SECONDS) }];
  return Array.from({ length: PARTS }, (_, index) => {
    const start = ((index + 0.5) * seconds) / PARTS;
    return { start, end: start + PART_SECONDS };
  });
}
