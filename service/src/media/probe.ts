// Port of the probe for untrusted video files, with limits on reads, memory and time.
import type { VideoTraits } from './warnings.ts';

/** Accepted containers, named after the ffmpeg demuxers. */
export type Container = DefaultContainer | AddedContainer;
export type DefaultContainer = 'mov' | 'matroska' | 'mpegts';
/** Those that only ffmpeg reads. */
export type AddedContainer = 'avi' | 'mpeg' | 'flv' | 'asf' | 'ogg' | 'mxf';

/** Random access to stored bytes. `end` is exclusive. */
export type ByteSource = {
  readonly sizeBytes: number;
  read(start: number, end: number): Promise<Uint8Array>;
};

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

/** Throws if the bytes cannot be read, or UNAVAILABLE (`busy`) if no process is free; never for content. */
export type Probe<C extends Container = Container> = {
  /** Waiting probes are scheduled fairly by `owner`. */
  probe(source: ByteSource, container: C, owner?: string): Promise<ProbeResult>;
};
