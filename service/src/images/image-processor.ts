// Port of the image processor: decodes untrusted images, with limits on pixels, memory and time.
import type { AssetMedia } from '@mediary/contract/schemas/assets/asset-media';
import type { Variant } from './variants/image-variant.ts';

/** Path of a local file, or a function that returns it, which is called when a process is free. */
export type ImageFile = string | (() => Promise<string>);

/** Width and height after applying the orientation. */
export type ImageFacts = {
  /** The format of the original. */
  readonly container: string;
  readonly width: number;
  readonly height: number;
  /** True for more than one frame. */
  readonly animated: boolean;
  /** True if only a still picture of an animation is decoded. */
  readonly isAnimationDropped: boolean;
  /** True when at least one pixel is not opaque. */
  readonly alpha: boolean;
  /** A thumbhash in Base64, which clients show while the image loads. */
  readonly placeholder: string;
  readonly photo: AssetMedia['photo'];
};

/** `too_demanding`: the image needs more memory or time than allowed, or crashed the decoder. */
export type ImageRefusal = 'not_media' | 'truncated' | 'picture_too_large' | 'too_demanding';

/** `thumbnail` is a JPEG of at most 640 pixels per side. */
export type ExaminedImage =
  | { readonly facts: ImageFacts; readonly thumbnail: Uint8Array }
  | { readonly refused: ImageRefusal };
export type RenderedImage = { readonly bytes: Uint8Array } | { readonly refused: ImageRefusal };

/** Whose rendering waits for a process. */
type RenderedAsset = { readonly id: string; readonly owner_user_id: string };

/**
 * Throws only if the bytes cannot be read or no process works on them in time, never for their content.
 * Output is sRGB, upright, no metadata.
 */
export type ImageProcessor = {
  /** True when HEIC and HEIF can be decoded. */
  readonly canDecodeHeif: boolean;
  /** Decodes every pixel of every frame. Throws UNAVAILABLE (`busy`) if it gets no CPU time. */
  examine(source: ImageFile): Promise<ExaminedImage>;
  /**
   * Owners take turns, and so do the assets of an owner. Throws UNAVAILABLE (`busy`) if no process is free in
   * time. Improved variants take the processes of jobs, and throw it if they get no CPU time.
   */
  render(source: ImageFile, variant: Variant, asset: RenderedAsset): Promise<RenderedImage>;
};
