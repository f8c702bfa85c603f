// Port of the probe for untrusted video and audio files, with limits on reads, memory and time.
import type { AudioContainer, ProbeResult, VideoContainer } from '@mediary/media-rules/video-facts';

/** Random access to stored bytes. `end` is exclusive. */
export type ByteSource = {
  readonly sizeBytes: number;
  read(start: number, end: number): Promise<Uint8Array>;
};

/** Throws if the bytes cannot be read, or UNAVAILABLE (`busy`) if no process is free; never for content. */
export type Probe<C extends VideoContainer = VideoContainer> = {
  /** Waiting probes are scheduled fairly by `owner`. */
  probe(source: ByteSource, container: C, owner?: string): Promise<ProbeResult>;
};

export type AudioProbe = {
  /** As `probe`, for a file whose pictures do not matter. */
  probeAudio(source: ByteSource, container: AudioContainer, owner?: string): Promise<ProbeResult>;
};
