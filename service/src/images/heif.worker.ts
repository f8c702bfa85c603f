// Decodes HEIC and HEIF with libheif in WebAssembly, because sharp has no HEVC decoder; copies ICC profiles.
import { createRequire } from 'node:module';
import { crc32, deflateSync } from 'node:zlib';

/** Types of the used functions; the library's own types are incomplete. */
type HeifImage = {
  is_primary(): boolean;
  get_width(): number;
  get_height(): number;
  free(): void;
  display<T extends { readonly data: Uint8Array }>(
    target: T & { width: number; height: number },
    done: (displayed: T | null) => void,
  ): void;
};
type Library = { readonly HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] } };

type HeifPixels = { readonly width: number; readonly height: number; readonly pixels: Buffer };

const require = createRequire(import.meta.url);

/** Returns RGBA pixels with rotation and mirroring applied. */
export async function decodeHeif(bytes: Uint8Array, maxPixels: number): Promise<HeifPixels> {
  const { HeifDecoder } = require('libheif-js/wasm-bundle') as Library;
  const images = new HeifDecoder().decode(bytes);
  try {
    const image = images.find((image) => image.is_primary()) ?? images[0];
    if (!image) throw new Error('no image in the file');
    return await pixelsOf(image, maxPixels);
  } finally {
    for (const image of images) image.free();
  }
}

async function pixelsOf(image: HeifImage, maxPixels: number): Promise<HeifPixels> {
  const width = image.get_width();
  const height = image.get_height();
  if (width * height > maxPixels) throw new Error('exceeds pixel limit');
  const pixels = Buffer.alloc(width * height * 4);
  const displayed = await new Promise<unknown>((resolve) =>
    image.display({ data: pixels, width, height }, resolve),
  );
  if (!displayed) throw new Error('the image cannot be decoded');
  return { width, height, pixels };
}

const MARK = 'colrprof';
const HEADER_BYTES = 128;

/** Returns the first complete profile; undefined if there is none. */
export function findIccProfile(heif: Buffer): Uint8Array | undefined {
  const at = heif.indexOf(MARK, 4, 'latin1');
  if (at < 0) return undefined;
  const profile = heif.subarray(at + MARK.length, at - 4 + heif.readUInt32BE(at - 4));
  const isWhole =
    profile.length > HEADER_BYTES &&
    profile.readUInt32BE(0) === profile.length &&
    profile.toString('latin1', 36, 40) === 'acsp';
  return isWhole ? profile : undefined;
}

const AFTER_HEAD = 8 + 25;

export function withIccProfile(png: Buffer, profile: Uint8Array): Buffer {
  const content = Buffer.concat([Buffer.from('iCCPicc\0\0', 'latin1'), deflateSync(profile)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length - 4);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([png.subarray(0, AFTER_HEAD), length, content, sum, png.subarray(AFTER_HEAD)]);
}
