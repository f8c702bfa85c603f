// Messages between the image processor and its worker processes.
import type { Examined, Rendered } from './image-processor.ts';
import type { Variant } from './image-variant.ts';

/** No `variant`: the picture is examined. */
export type ImageTask = {
  readonly source: Uint8Array;
  readonly maxPixels: number;
  readonly variant?: Variant;
};

/** `shouldRetire`: the process holds much memory, or has used much CPU time, and should not be used again. */
export type Reply = { readonly result: Examined | Rendered; readonly shouldRetire: boolean };
