// Decodes pictures with sharp: only the loaders of allowed types, only from memory, only so many pixels.
import sharp from 'sharp';
import type { ImageProcessor, ImageResult } from './image-processor.ts';

const LOADERS = ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer', 'VipsForeignLoadNsgifBuffer', 'VipsForeignLoadHeifBuffer'];

export function openSharpImageProcessor({ maxPixels = 50_000_000 } = {}): ImageProcessor {
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  sharp.cache(false);
  return { look: (bytes) => look(bytes, maxPixels) };
}

async function look(bytes: Uint8Array, maxPixels: number): Promise<ImageResult> {
  try {
    const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'truncated' });
    const { autoOrient: { width, height } } = await image.metadata();
    await image.stats();
    return { facts: { width, height } };
  } catch (error) {
    return { refused: refusalOf(error instanceof Error ? error.message : '') };
  }
}

/** What the library says in words, in our codes. */
function refusalOf(message: string): Extract<ImageResult, { refused: string }>['refused'] {
  if (/pixel limit/i.test(message)) return 'too_large_picture';
  return /premature end|truncated|unexpected end|not enough data/i.test(message) ? 'truncated' : 'not_media';
}
