// Port of the probe for untrusted video files, with limits on reads, memory and time.
import type { Container, ProbeResult } from '@mediary/media-rules/video-facts';

/** Random access to stored bytes. `end` is exclusive. */
export type ByteSource = {
  readonly sizeBytes: number;
  read(start: number, end: number): Promise<Uint8Array>;
};

/** Throws if the bytes cannot be read, or UNAVAILABLE (`busy`) if no process is free; never for content. */
export type Probe<C extends Container = Container> = {
  /** Waiting probes are scheduled fairly by `owner`. */
  probe(source: ByteSource, container: C, owner?: string): Promise<ProbeResult>;
};
