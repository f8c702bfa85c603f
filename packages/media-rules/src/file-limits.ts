// The limits of uploaded files, and the sentences that name them.

/** What the service accepts where its operator has not set other limits. */
export const DEFAULT_FILE_LIMITS = {
  /** `MAX_UPLOAD_BYTES`. */
  maxBytes: 10 * 1024 ** 3,
  /** `MAX_IMAGE_PIXELS`: of all frames of an image. */
  maxImagePixels: 110_000_000,
  /** `MAX_VIDEO_DURATION_S`. */
  maxDurationSeconds: 12 * 3600,
} as const;

/** Of one frame of a video. 8K has 33 megapixels. Larger frames are refused before memory is allocated. */
export const MAX_VIDEO_PIXELS = 36_000_000;

export const describeUnsupportedType = (field: string, value: string, allowed: readonly string[]): string =>
  `${field} ${JSON.stringify(value)} is not supported. Supported: ${allowed.join(', ')}.`;

export const describeExcessSize = (maxBytes: number): string =>
  `size_bytes is larger than the maximum of ${maxBytes} bytes`;

export const describeExcessDuration = (seconds: number, maxSeconds: number): string =>
  `The video is ${Math.ceil(seconds)} s long. The limit is ${maxSeconds} s. Upload a shorter video.`;
