// What a probe of a video or audio file finds: the properties of the file, or why it is refused.
import type { VideoTraits } from './warnings.ts';

/** Accepted containers, named after the ffmpeg demuxers. */
export type Container = VideoContainer | AudioContainer;
export type VideoContainer = DefaultContainer | AddedContainer;
export type DefaultContainer = 'mov' | 'matroska' | 'mpegts';
/** Those that only ffmpeg reads. */
export type AddedContainer = 'avi' | 'mpeg' | 'flv' | 'asf' | 'ogg' | 'mxf';

/** Those of audio files. */
export type AudioContainer = 'mov' | 'matroska' | 'ogg' | 'mp3' | 'aac' | 'wav' | 'flac';

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
type ProbeRefusal = 'not_media' | 'no_video_track' | 'no_audio_track' | 'truncated' | 'picture_too_large';

export type ProbeResult = { readonly facts: MediaFacts } | { readonly refused: ProbeRefusal };
