// The port behind which an untrusted picture is decoded: bounded in pixels, allowed formats only.

/** As shown: orientation applied. */
export type ImageFacts = { readonly width: number; readonly height: number };
export type ImageResult = { readonly facts: ImageFacts } | { readonly refused: 'not_media' | 'truncated' | 'too_large_picture' };

export type ImageProcessor = {
  /** Decodes every pixel of the first frame. Never throws for what is in the bytes. */
  look(bytes: Uint8Array): Promise<ImageResult>;
};
