// What the probe and its worker thread say to each other.
import type { Container, ProbeResult } from './probe.ts';

export type ToWorker =
  | { readonly kind: 'look'; readonly container: Container; readonly sizeBytes: number }
  | { readonly kind: 'bytes'; readonly id: number; readonly bytes: Uint8Array };

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly id: number; readonly start: number; readonly end: number }
  | { readonly kind: 'seen'; readonly result: ProbeResult };
