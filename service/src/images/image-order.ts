// What the image processor and its processes say to each other.
import type { Examined, Rendered } from './image-processor.ts';
import type { Variant } from './image-variant.ts';

/** `source`: a path, or the bytes. No `variant`: the picture is examined. */
export type Order = {
  readonly source: string | Uint8Array;
  readonly maxPixels: number;
  readonly variant?: Variant;
};

/** `unreadable`: the source could not be read. `isWorn`: the process holds much memory and should not be used again. */
export type Reply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'done'; readonly result: Examined | Rendered; readonly isWorn: boolean };
