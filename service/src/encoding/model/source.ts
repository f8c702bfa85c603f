// What a source file is: its streams, and the properties of its first frames.
import type { DynamicRange } from './codecs.ts';

export type Rational = { readonly numerator: number; readonly denominator: number };

export type Size = { readonly width: number; readonly height: number };

export type SourceStream = {
  readonly index: number;
  readonly kind: 'Video' | 'Audio' | 'Subtitle' | 'Data' | 'Attachment';
  readonly codec: string;
  /** The container's four-character code of the codec, if printed. */
  readonly tag?: string;
  /** Coded size; null when unknown. */
  readonly size: Size | null;
  /** Average frames per second; null when unknown. */
  readonly averageRate: number | null;
  /** Set for an audio stream if ffmpeg prints it. */
  readonly channels?: number;
  /** Unknown for an audio stream without packets. */
  readonly sampleRate?: number;
  /** What players without Dolby Vision see in its picture. 0: nothing; 1: HDR10; 2: SDR; 4: HLG. */
  readonly dolbyVisionCompatibility?: number;
  /** Matroska states transparency that the decoder of VP8 and VP9 ignores. */
  readonly hasAlpha?: boolean;
  /** True for a cover or thumbnail. */
  readonly still: boolean;
  /** As in the file, usually three letters of ISO 639-2. */
  readonly language?: string;
  readonly title?: string;
  /** Names of the flags in ffmpeg, for example `default` or `visual impaired`. */
  readonly dispositions?: readonly string[];
};

/** Coordinates in the CIE 1931 diagram. */
export type Chromaticity = readonly [x: number, y: number];

/** SMPTE ST 2086; luminance in cd/m². */
export type MasteringDisplay = {
  readonly red: Chromaticity;
  readonly green: Chromaticity;
  readonly blue: Chromaticity;
  readonly white: Chromaticity;
  readonly minNits: number;
  readonly maxNits: number;
};

/** CTA-861.3: of the brightest pixel, and of the brightest frame on average, in cd/m². */
type LightLevel = { readonly maxNits: number; readonly averageNits: number };

export type HdrMetadata = {
  readonly masteringDisplay?: MasteringDisplay;
  readonly lightLevel?: LightLevel;
};

/** Properties of the first decoded frames. */
export type FrameFacts = {
  /** When the first frame is shown, from the first timestamp of the file. */
  readonly startSeconds: number;
  /** Display size: rotation and pixel aspect ratio are applied. */
  readonly displaySize: Size;
  readonly frameRate: Rational | null;
  readonly interlaced: boolean;
  readonly transfer: DynamicRange;
  /** Name of the primaries in ffmpeg; `unknown` when the file does not specify them. */
  readonly primaries: string;
  /** Bits per component of a pixel. */
  readonly bitDepth: number;
  /** Luminance of the brightest pixel in cd/m², or of the mastering display; null when neither is stated. */
  readonly peakNits: number | null;
  /** What an HDR source tells displays. */
  readonly hdrMetadata?: HdrMetadata;
  /** Name of the matrix in ffmpeg; `unknown` when the file does not specify it. */
  readonly matrix: string;
  readonly fullRange: boolean;
  /** Name of the pixel format in ffmpeg, for example `yuv420p`. */
  readonly pixelFormat: string;
};

type SourceChapter = {
  /** On the clock of the file, as `SourceFacts.startSeconds`. */
  readonly startSeconds: number;
  readonly title: string | undefined;
};

export type SourceFacts = {
  /** Duration in the container; null when missing. */
  readonly durationSeconds: number | null;
  /** The first timestamp of all streams. */
  readonly startSeconds: number;
  readonly streams: readonly SourceStream[];
  /** Null when no frame could be decoded. */
  readonly frame: FrameFacts | null;
  /** The file asks players to rotate or flip the picture; ffmpeg has applied it to the frames. */
  readonly isRotated: boolean;
  /** As the file has them, in its order. */
  readonly chapters?: readonly SourceChapter[];
};
