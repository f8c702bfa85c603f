// Port of the encoder: creates CMAF renditions of a video, and an index from which manifests are rendered.
import type { CaptionKind } from '@mediary/contract/enums';
import type { Chapter } from '@mediary/contract/schemas/assets/chapters';
import type { FailureCode } from '@mediary/contract/failures';
import type { Warning } from '../assets/asset.ts';
import type { Rendition } from '../assets/renditions.ts';
import type { AudioFacts, VideoFacts } from '../lifecycle/decisions/stream-report.ts';
import type { Container } from '@mediary/media-rules/video-facts';
import type { CmafSegment } from './model/cmaf-track.ts';
import type { RunIndex } from './packaging/run-index.ts';
import type { ChunkSpec } from './plan/ladder/chunk-plan.ts';
import type { PreviewPart } from './model/preview.ts';
import type { StoryboardPlan } from './model/storyboard.ts';

export type EncodeRequest = {
  /** Path of the original, which must not be changed. */
  readonly source: string;
  readonly container: Container;
  /** An empty folder of this run for all output and temporary files. */
  readonly workFolder: string;
  /** Time of the requested poster, in addition to the default thumbnail. */
  readonly posterTimeMs?: number | null;
  /** Stops the run immediately; the promise rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called with percent 0–99. Must not throw. */
  readonly onProgress: (percent: number, renditions: readonly Rendition[]) => void;
  /** Called one at a time with what can be played before the run ends. A rejection ends the run. */
  readonly onPlayable?: (part: PlayablePart) => Promise<void>;
  /** Shortest length of a chunk; absent: the video is encoded in one piece. */
  readonly chunkSeconds?: number | undefined;
};

/** `maxSeconds`: a longer video is refused with LongVideoError. */
type StartRequest = EncodeRequest & { readonly maxSeconds?: number | undefined };

export type ContinueRequest = EncodeRequest & {
  /** What `startEncode` returned for this video. */
  readonly checkpoint: EncodeCheckpoint;
  /** Encodes parts of a long video on any worker; absent: this run encodes all of it. */
  readonly encodeChunks?: ChunkRunner | undefined;
  /** Path of a local file with the bytes of a stored segment. */
  readonly openSegment: (name: string) => Promise<string>;
};

/**
 * Resolves with the chunks in their order when their segments are stored. `onDone` is called with the number
 * of encoded frames. Throws EncodeError, or ChunkMismatchError.
 */
export type ChunkRunner = (
  specs: readonly ChunkSpec[],
  onDone: (frames: number) => void,
) => Promise<readonly EncodedChunk[]>;

/** A playable encode that lacks renditions, as JSON: any worker can continue it. */
export type EncodeCheckpoint = {
  readonly durationMs: number;
  /** The other renditions can be encoded in chunks. */
  readonly isDividable: boolean;
  /** The encoder's own data. */
  readonly state: object;
};

/** `encoding`: of a video with one rendition, which is complete. */
export type StartedEncode = { readonly encoding: Encoding } | { readonly checkpoint: EncodeCheckpoint };

export type ChunkRequest = Pick<EncodeRequest, 'source' | 'workFolder' | 'signal'> & {
  readonly spec: ChunkSpec;
};

/** One track for each rung, as JSON. The segments have their names and times in the whole video. */
export type EncodedChunk = readonly {
  readonly id: number;
  /** Base64 of the init segment, which must be the same in all chunks. */
  readonly init: string;
  readonly segments: readonly CmafSegment[];
  /** Pictures of the source that the run could not decode. */
  readonly decodeErrors?: number;
}[];

/** What the encoder tells about the source. */
export type EncodedSource = {
  readonly container: Container;
  /** The encoded video stream; absent for an audio file. */
  readonly video?: VideoFacts;
  /** The encoded audio tracks, the default first. Their loudness is known when the run ends. */
  readonly audio: readonly AudioFacts[];
  /** Display size: rotation and pixel aspect ratio are applied. Absent for an audio file. */
  readonly width?: number;
  readonly height?: number;
  readonly durationMs: number;
  readonly chapters: readonly Chapter[];
};

/** Renditions of a run that has not ended. */
export type PlayablePart = {
  /** Without the files of earlier parts. */
  readonly files: readonly EncodedFile[];
  /** All files of the run so far, instead of an earlier index. */
  readonly index: RunIndex;
  readonly renditions: readonly Rendition[];
} & EncodedSource;

export type PosterRequest = {
  /** Path of the init segment and the media segment at the time. */
  readonly excerpt: string;
  /** When the segment starts. */
  readonly startSeconds: number;
  /** A time after the end selects the last frame. */
  readonly timeMs: number;
  /** Path of the JPEG output. */
  readonly output: string;
  readonly signal: AbortSignal;
};

/**
 * A file that is made of renditions of this encoder. An excerpt is an init segment with any of its media
 * segments in order; timestamps are those of the video. All paths are in one folder of this request.
 */
export type ExtraRequest = { readonly output: string; readonly signal: AbortSignal } & (
  | { readonly kind: 'storyboard'; readonly excerpt: string; readonly plan: StoryboardPlan }
  | {
      readonly kind: 'preview';
      readonly excerpt: string;
      readonly parts: readonly PreviewPart[];
      readonly frameRate: number;
    }
  | {
      readonly kind: 'frame';
      readonly excerpt: string;
      /** Since the first frame of the excerpt. */
      readonly seconds: number;
      readonly frameRate: number;
      readonly width: number;
    }
  /** One MP4 file with the track of each excerpt. */
  | { readonly kind: 'file'; readonly excerpts: readonly string[] }
);

export type SubtitleRequest = Pick<EncodeRequest, 'source' | 'container' | 'workFolder' | 'signal'>;

/** The subtitles of a video in one language. */
export type EmbeddedSubtitles = {
  /** Index of the stream in the source. */
  readonly index: number;
  /** BCP 47; `und` where the file does not tell. */
  readonly language: string;
  readonly label: string;
  readonly kind: CaptionKind;
  /** WebVTT; the text is of the file's author. */
  readonly bytes: Uint8Array;
};

/** A part of a video as a file of its own. */
export type CutRequest = SubtitleRequest & {
  readonly startMs: number;
  /** A time after the end of the video means its end. */
  readonly endMs: number;
  /** The file may not be larger. */
  readonly maxBytes: number;
};

/** `droppedSubtitles`: the languages of text subtitles that cannot be read. */
export type Cut = { readonly path: string; readonly droppedSubtitles: readonly string[] };

/** A file to store; the name is valid in an object key. */
export type EncodedFile = { readonly name: string; readonly path: string };

export type Encoding = EncodedSource & {
  /** With `index.json`, and without those that `onPlayable` was called with. */
  readonly files: readonly EncodedFile[];
  readonly renditions: readonly Rendition[];
  /** ThumbHash of the default thumbnail in Base64. */
  readonly placeholder: string | undefined;
  /** Unusual properties of the source, and parts that the renditions lack. */
  readonly warnings: readonly Warning[];
};

/** The file cannot be encoded. `message` is for callers, `log` (the end of ffmpeg's output) for operators. */
export class EncodeError extends Error {
  readonly code: FailureCode;
  /** A private field, so that printing or serializing the error does not expose it. */
  readonly #log: string;
  constructor(code: FailureCode, message: string, log = '') {
    super(message);
    this.code = code;
    this.#log = log;
  }
  get log(): string {
    return this.#log;
  }
}

/** A chunk does not match its plan, or another chunk: the video must be encoded in one piece. */
export class ChunkMismatchError extends Error {}

/** The video is longer than the request allows. */
export class LongVideoError extends Error {}

export type Encoder = {
  /** Encodes a whole audio file. Throws EncodeError for one without sound that can be decoded. */
  encodeAudio(request: EncodeRequest): Promise<Encoding>;
  /**
   * Encodes what makes the video playable, and passes it to `onPlayable`. Throws EncodeError for an invalid
   * source, and LongVideoError.
   */
  startEncode(request: StartRequest): Promise<StartedEncode>;
  /** Encodes the other renditions, and checks them against the source. */
  continueEncode(request: ContinueRequest): Promise<Encoding>;
  /** Creates the segments of a chunk in the folder. Throws EncodeError, or ChunkMismatchError. */
  encodeChunk(request: ChunkRequest): Promise<EncodedChunk>;
  /** Creates a poster of a video that this encoder has encoded. */
  createPoster(request: PosterRequest): Promise<void>;
  /** Creates another file of such a video. Several sprites replace `%d` in the name of `output`. */
  createExtra(request: ExtraRequest): Promise<void>;
  /** Converts the text subtitles of the source, one stream for each language. */
  extractSubtitles(request: SubtitleRequest): Promise<readonly EmbeddedSubtitles[]>;
  /** Decodes the closed captions of the source, one channel for each language. Throws EncodeError. */
  extractClosedCaptions(request: SubtitleRequest): Promise<readonly EmbeddedSubtitles[]>;
  /**
   * Cuts a part of the source to an MP4 file, exact to a frame, with its audio tracks and text subtitles.
   * Throws EncodeError.
   */
  cut(request: CutRequest): Promise<Cut>;
};
