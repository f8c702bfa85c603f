// Recognizes the lines in which ffmpeg says that it cannot decode a part of the source.

/** What could not be decoded: pictures of the chosen video stream, and packets of sound. */
export type DecodeErrors = { readonly pictures: number; readonly sound: number };

type DecodeErrorCounter = {
  /** Reads the next line of ffmpeg's log, which must not combine repeated lines. */
  readonly read: (line: string) => void;
  readonly counts: () => DecodeErrors;
};

/**
 * Decoders print many other lines, also for intact files that start between two key frames. These two stand
 * for a frame that is shown with invented parts, and for a packet that gave no frame. Before a repetition of
 * the second, ffmpeg 5.1 says of libdav1d that it should be asked again.
 */
const LINES = [
  ['incomplete', /^\[[av]ist#0:(\d+)\/.* corrupt decoded frame$/],
  ['lost', /^\[[av]ist#0:(\d+)\/.* Error submitting packet to decoder: /],
  ['incomplete', /: corrupt decoded frame in stream (\d+)$/],
  ['lost', /^Error while decoding stream #0:(\d+): (?!Resource temporarily unavailable)/],
] as const;

type DecodeError = { readonly kind: 'incomplete' | 'lost'; readonly stream: number };

export function parseDecodeError(line: string): DecodeError | undefined {
  for (const [kind, pattern] of LINES) {
    const stream = pattern.exec(line)?.[1];
    if (stream !== undefined) return { kind, stream: Number(stream) };
  }
  return undefined;
}

/** `videoIndex`: of the chosen video stream; the other streams that a run decodes are sound. */
export function countDecodeErrors(videoIndex: number): DecodeErrorCounter {
  let [pictures, sound] = [0, 0];
  return {
    read: (line) => {
      const error = parseDecodeError(line);
      if (error?.stream === videoIndex) pictures += 1;
      else if (error) sound += 1;
    },
    counts: () => ({ pictures, sound }),
  };
}
