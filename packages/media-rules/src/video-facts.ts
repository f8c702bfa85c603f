// What a probe of a video finds: the properties of the file, or why it is refused.
import type { VideoTraits } from './warnings.ts';

/** Accepted containers, named after the ffmpeg demuxers. */
export type Container = DefaultContainer | AddedContainer;
export type DefaultContainer = 'mov' | 'matroska' | 'mpegts';
/** Those that only ffmpeg reads. */
export type AddedContainer = 'avi' | 'mpeg' | 'flv' | 'asf' | 'ogg' | 'mxf';

/** Properties of the file; null when unknown. Width and height include rotation and pixel aspect ratio. */
export type MediaFacts = {
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly hasVideo: boolean;
  readonly hasAudio: boolean;
  readonly traits: VideoTraits;
};

/** Failure codes of contract B4. */
type ProbeRefusal = 'not_media' | 'no_video_track' | 'truncated' | 'picture_too_large';

export type ProbeResult = { readonly facts: MediaFacts } | { readonly refused: ProbeRefusal };
