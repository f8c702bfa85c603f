// The port behind which untrusted pictures are decoded: bounded in pixels, memory and time, allowed formats only.
import type { Variant } from './image-variant.ts';

/** Path of a file on this machine, or the bytes once it is their turn. */
export type ImageSource = string | (() => Promise<Uint8Array>);

/** As shown: orientation applied. */
export type ImageFacts = {
  readonly width: number;
  readonly height: number;
  /** More than one frame. */
  readonly animated: boolean;
  /** Something can be seen through it. */
  readonly alpha: boolean;
  /** A thumbhash in Base64: what to show before the picture is there. */
  readonly placeholder: string;
};

/** `too_demanding`: more memory or time than a picture may take, or a decoder that died of it. */
export type ImageRefusal = 'not_media' | 'truncated' | 'too_large_picture' | 'too_demanding';

/** `thumbnail`: a JPEG of at most 640 pixels a side. */
export type Examined =
  | { readonly facts: ImageFacts; readonly thumbnail: Uint8Array }
  | { readonly refused: ImageRefusal };
export type Rendered = { readonly bytes: Uint8Array } | { readonly refused: ImageRefusal };

/** Never throws for what is in the bytes; fails only where they cannot be read. What it makes is sRGB, upright, and without any metadata. */
export type ImageProcessor = {
  /** Whether HEIC and HEIF can be decoded here. */
  readonly takesHeif: boolean;
  /** Decodes every pixel of every frame. */
  examine(source: ImageSource): Promise<Examined>;
  render(source: ImageSource, variant: Variant): Promise<Rendered>;
  close(): Promise<void>;
};
