// The port behind which an untrusted video file is looked at: bounded in reads, memory and time.

/** Containers that are accepted as uploads, named as ffmpeg's demuxers are forced. */
export type Container = 'mov' | 'matroska' | 'mpegts';

/** Random access to stored bytes. `end` is exclusive. */
export type ByteSource = {
  readonly sizeBytes: number;
  read(start: number, end: number): Promise<Uint8Array>;
};

/** Facts of the file; null where they are not known. Sizes are as shown: rotation and pixel aspect applied, even numbers not enforced. */
export type MediaFacts = {
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly hasVideo: boolean;
  readonly hasAudio: boolean;
};

/** Why a file is no video that can be taken: contract B4's codes. */
export type ProbeRefusal = 'not_media' | 'no_video_track' | 'truncated' | 'too_large_picture';

export type ProbeResult = { readonly facts: MediaFacts } | { readonly refused: ProbeRefusal };

/** Never throws for what is in the file; fails where the bytes cannot be read, and with UNAVAILABLE (`busy`) where no turn comes. */
export type Probe = {
  /** `owner`: whose file it is; owners that wait take turns. */
  probe(source: ByteSource, container: Container, owner?: string): Promise<ProbeResult>;
  close(): Promise<void>;
};
