// Messages between the image processor and its worker processes.
import type { Examined, Rendered } from './image-processor.ts';
import type { Variant } from './image-variant.ts';

/** Without `variant`, the image is examined. */
export type ImageTask = {
  readonly source: Uint8Array;
  readonly maxPixels: number;
  readonly variant?: Variant;
};

/** `shouldRetire`: the process uses much memory, or has used much of its CPU time limit. */
export type Reply = { readonly result: Examined | Rendered; readonly shouldRetire: boolean };
