// Computes a ThumbHash where the browser can decode the picture.
import { rgbaToThumbHash } from 'thumbhash';
import { toBase64 } from '../encoding.ts';

/** The largest side that a ThumbHash is computed from. */
export const PLACEHOLDER_PX = 100;

/** The members of the browser in use. They are not declared outside of browsers. */
type Bitmap = { readonly width: number; readonly height: number; close(): void };
type Area = readonly [x: number, y: number, width: number, height: number];
type Context2d = {
  drawImage(...imageAndArea: readonly [image: unknown, ...Area]): void;
  getImageData(...area: Area): { readonly data: Uint8ClampedArray };
};
type Canvas = {
  readonly width: number;
  readonly height: number;
  getContext(type: '2d'): Context2d | null;
};
type Globals = {
  readonly createImageBitmap?: (image: Blob) => Promise<Bitmap>;
  readonly OffscreenCanvas?: new (width: number, height: number) => Canvas;
};
const { createImageBitmap, OffscreenCanvas } = globalThis as unknown as Globals;

/** Null where the browser cannot decode the image. */
export async function readImagePlaceholder(file: Blob): Promise<string | null> {
  if (!createImageBitmap || !OffscreenCanvas) return null;
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (!bitmap) return null;
  const scale = Math.min(1, PLACEHOLDER_PX / Math.max(bitmap.width, bitmap.height));
  const width = Math.max(1, Math.round(bitmap.width * scale));
  const height = Math.max(1, Math.round(bitmap.height * scale));
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  return readCanvas(canvas);
}

export function readCanvas(canvas: unknown): string | null {
  const { width, height, getContext } = canvas as Canvas;
  const pixels = getContext.call(canvas, '2d')?.getImageData(0, 0, width, height);
  return pixels ? toBase64(rgbaToThumbHash(width, height, pixels.data)) : null;
}
