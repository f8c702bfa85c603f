// Messages between the probe and its worker process.
import type { Container, ProbeResult } from './probe.ts';

/** Bytes of one file that a probe may read (contract B4). */
export const PROBE_BYTES = 64 * 1024 * 1024;

export type ToWorker =
  | { readonly kind: 'look'; readonly container: Container; readonly sizeBytes: number }
  | { readonly kind: 'bytes'; readonly id: number; readonly bytes: Uint8Array };

/** `isWorn`: the process has used much CPU time, of which it may use only so much in its life. */
export type FromWorker =
  | { readonly kind: 'read'; readonly id: number; readonly start: number; readonly end: number }
  | { readonly kind: 'seen'; readonly result: ProbeResult; readonly isWorn: boolean };
