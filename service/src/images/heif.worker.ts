// Decodes HEIC and HEIF with libheif in WebAssembly, because sharp has no HEVC decoder.
import { createRequire } from 'node:module';

/** Types of the used functions; the library's own types are incomplete. */
type HeifImage = {
  is_primary(): boolean;
  get_width(): number;
  get_height(): number;
  free(): void;
  display<T extends { readonly data: Uint8Array }>(
    target: T & { width: number; height: number },
    done: (shown: T | null) => void,
  ): void;
};
type Library = { readonly HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] } };

type Decoded = { readonly width: number; readonly height: number; readonly pixels: Buffer };

const require = createRequire(import.meta.url);

/** Returns RGBA pixels with rotation and mirroring applied. */
export async function decodeHeif(bytes: Uint8Array, maxPixels: number): Promise<Decoded> {
  const { HeifDecoder } = require('libheif-js/wasm-bundle') as Library;
  const images = new HeifDecoder().decode(bytes);
  try {
    const image = images.find((one) => one.is_primary()) ?? images[0];
    if (!image) throw new Error('no picture in the file');
    return await pixelsOf(image, maxPixels);
  } finally {
    for (const image of images) image.free();
  }
}

async function pixelsOf(image: HeifImage, maxPixels: number): Promise<Decoded> {
  const width = image.get_width();
  const height = image.get_height();
  if (width * height > maxPixels) throw new Error('exceeds pixel limit');
  const pixels = Buffer.alloc(width * height * 4);
  const shown = await new Promise<unknown>((resolve) =>
    image.display({ data: pixels, width, height }, resolve),
  );
  if (!shown) throw new Error('the picture cannot be decoded');
  return { width, height, pixels };
}
