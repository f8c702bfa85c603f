// Messages between the probe and its worker processes.
import type { Container, ProbeResult } from './probe.ts';

/** Maximum number of bytes that a probe reads of one file (contract B4). */
export const PROBE_BYTES = 64 * 1024 * 1024;

export type ToWorker =
  | { readonly kind: 'probe'; readonly container: Container; readonly sizeBytes: number }
  | { readonly kind: 'bytes'; readonly id: number; readonly bytes: Uint8Array };

/** `shouldRetire`: the process has used much of its CPU time limit. */
export type FromWorker =
  | { readonly kind: 'read'; readonly id: number; readonly start: number; readonly end: number }
  | { readonly kind: 'result'; readonly result: ProbeResult; readonly shouldRetire: boolean };
