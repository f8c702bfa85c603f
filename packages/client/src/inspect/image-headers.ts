// Reads size, orientation and frames of JPEG, PNG, WebP and GIF images from their headers.
import { toLatin1 } from '@mediary/media-rules/magic-bytes';
import type { BoundedReader } from './bounded-reader.ts';
import { parseOrientation, type PixelSize, type Turn, UPRIGHT } from './exif-orientation.ts';

export type ImageHeader = {
  /** Pixels, as stored. */
  readonly size: PixelSize;
  readonly turn: Turn;
  /** At least; 1 for a still picture. */
  readonly frames: number;
  /** True if the service shows only a still picture of an animation. */
  readonly isAnimationDropped: boolean;
};

const STILL = { turn: UPRIGHT, frames: 1, isAnimationDropped: false };
/** Larger blocks of metadata have no orientation. */
const MAX_EXIF_BYTES = 64 * 1024;

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const START_OF_SCAN = 0xda;
const APP1 = 0xe1;
const MAX_SKIPPED_BYTES = 16 * 1024;
const EXIF_NAME = 'Exif\0\0';
/** Start of a frame. 0xc4, 0xc8 and 0xcc have other meanings. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

export async function readJpegHeader(reader: BoundedReader): Promise<ImageHeader | undefined> {
  let turn: Turn | undefined;
  let skipped = 0;
  for (let at = 2; at + 9 <= reader.sizeBytes; ) {
    const head = viewOf(await reader.read(at, at + 10));
    const marker = head.getUint8(1);
    // Any number of 0xff may precede a marker, and decoders skip some bytes of damaged files.
    if (head.getUint8(0) !== 0xff || marker === 0xff) {
      at += 1;
      skipped += 1;
      if (skipped > MAX_SKIPPED_BYTES) return undefined;
      continue;
    }
    if (isFrameHeader(marker)) {
      const size = { width: head.getUint16(7), height: head.getUint16(5) };
      return { ...STILL, size, turn: turn ?? UPRIGHT };
    }
    if (marker === START_OF_SCAN) return undefined;
    const length = head.getUint16(2);
    if (marker === APP1 && !turn) turn = await readJpegOrientation(reader, at + 4, length - 2);
    at += 2 + length;
  }
  return undefined;
}

async function readJpegOrientation(
  reader: BoundedReader,
  start: number,
  length: number,
): Promise<Turn | undefined> {
  const bytes = await reader.read(start, start + length);
  if (toLatin1(bytes, 0, EXIF_NAME.length) !== EXIF_NAME) return undefined;
  return parseOrientation(bytes.subarray(EXIF_NAME.length));
}

const PNG_FIRST_CHUNK = 8;
const PNG_CHUNK_FRAME = 12;

export async function readPngHeader(reader: BoundedReader): Promise<ImageHeader | undefined> {
  let header: ImageHeader | undefined;
  for (let at = PNG_FIRST_CHUNK; at + PNG_CHUNK_FRAME <= reader.sizeBytes; ) {
    const bytes = await reader.read(at, at + 16);
    const head = viewOf(bytes);
    const length = head.getUint32(0);
    const type = toLatin1(bytes, 4, 8);
    if (!header) {
      if (type !== 'IHDR' || bytes.length < 16) return undefined;
      header = { ...STILL, size: { width: head.getUint32(8), height: head.getUint32(12) } };
    }
    if (type === 'acTL') header = { ...header, isAnimationDropped: head.getUint32(8) > 1 };
    if (type === 'eXIf') {
      const exif = await reader.read(at + 8, at + 8 + Math.min(length, MAX_EXIF_BYTES));
      header = { ...header, turn: parseOrientation(exif) };
    }
    if (type === 'IDAT') break;
    at += PNG_CHUNK_FRAME + length;
  }
  return header;
}

const RIFF_HEADER = 12;
const WEBP_CHUNK_HEADER = 8;

export async function readWebpHeader(reader: BoundedReader): Promise<ImageHeader | undefined> {
  const bytes = await reader.read(RIFF_HEADER, RIFF_HEADER + WEBP_CHUNK_HEADER + 10);
  if (bytes.length < WEBP_CHUNK_HEADER + 10) return undefined;
  const view = viewOf(bytes);
  const type = toLatin1(bytes, 0, 4);
  if (type === 'VP8 ')
    return {
      ...STILL,
      size: { width: view.getUint16(14, true) & 0x3fff, height: view.getUint16(16, true) & 0x3fff },
    };
  if (type === 'VP8L') {
    const bits = view.getUint32(9, true);
    return { ...STILL, size: { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 } };
  }
  if (type !== 'VP8X') return undefined;
  const size = { width: readUint24(view, 12) + 1, height: readUint24(view, 15) + 1 };
  return readExtendedWebp(reader, { ...STILL, size });
}

const readUint24 = (view: DataView, at: number): number =>
  view.getUint16(at, true) + view.getUint8(at + 2) * 0x1_0000;

async function readExtendedWebp(reader: BoundedReader, header: ImageHeader): Promise<ImageHeader> {
  let { turn } = header;
  let animated = 0;
  try {
    for (let at = RIFF_HEADER; at + WEBP_CHUNK_HEADER <= reader.sizeBytes; ) {
      const bytes = await reader.read(at, at + WEBP_CHUNK_HEADER);
      const type = toLatin1(bytes, 0, 4);
      const length = viewOf(bytes).getUint32(4, true);
      const start = at + WEBP_CHUNK_HEADER;
      if (type === 'ANMF') animated += 1;
      if (type === 'EXIF')
        turn = parseWebpExif(await reader.read(start, start + Math.min(length, MAX_EXIF_BYTES)));
      // Chunks start at even positions.
      at = start + length + (length % 2);
    }
  } catch (error) {
    // The frames so far are enough where the budget does not allow more.
    if (!reader.isExhausted()) throw error;
  }
  // The service cannot turn the frames of an animation.
  return animated > 1 ? { ...header, frames: animated } : { ...header, turn };
}

/** Some programs write the name that only JPEG needs. */
const parseWebpExif = (bytes: Uint8Array): Turn =>
  parseOrientation(
    toLatin1(bytes, 0, EXIF_NAME.length) === EXIF_NAME ? bytes.subarray(EXIF_NAME.length) : bytes,
  );

const GIF_HEADER = 13;
/** Frames beyond it are not counted. */
const MAX_GIF_BYTES = 3 * 1024 ** 2;
const GIF_IMAGE = 0x2c;
const GIF_IMAGE_HEADER = 10;
const GIF_EXTENSION = 0x21;

export async function readGifHeader(reader: BoundedReader): Promise<ImageHeader | undefined> {
  const bytes = await reader.read(0, MAX_GIF_BYTES);
  if (bytes.length < GIF_HEADER) return undefined;
  const view = viewOf(bytes);
  let size = toPlausibleScreen(view.getUint16(6, true), view.getUint16(8, true));
  const frames = listGifFrames(bytes);
  const [first] = frames;
  if (first && first + GIF_IMAGE_HEADER <= bytes.length) {
    const right = view.getUint16(first + 1, true) + view.getUint16(first + 5, true);
    const bottom = view.getUint16(first + 3, true) + view.getUint16(first + 7, true);
    size = { width: Math.max(size.width, right), height: Math.max(size.height, bottom) };
  }
  return { ...STILL, size, frames: Math.max(1, frames.length) };
}

/** Some programs write the size of the screen on which the image was made; decoders ignore these. */
function toPlausibleScreen(width: number, height: number): PixelSize {
  const isScreen = SCREENS.has(`${width}x${height}`) || width * height === 0;
  return isScreen || Math.max(width, height) > 2048 ? { width: 1, height: 1 } : { width, height };
}

const SCREENS = new Set(['640x480', '640x512', '800x600', '1024x768', '1280x1024', '1600x1200']);

/** Where the frames begin. */
function listGifFrames(bytes: Uint8Array): readonly number[] {
  const frames: number[] = [];
  for (let at = GIF_HEADER + colourTableBytes(bytes[10]); at < bytes.length; ) {
    const block = bytes[at];
    if (block === GIF_IMAGE) {
      frames.push(at);
      at = skipSubBlocks(bytes, at + 11 + colourTableBytes(bytes[at + 9]));
    } else if (block === GIF_EXTENSION) at = skipSubBlocks(bytes, at + 2);
    else break;
  }
  return frames;
}

const colourTableBytes = (flags = 0): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

function skipSubBlocks(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] ?? 0);
  return at + 1;
}
