// The orientation of a picture, as Exif stores it.

export type Turn = { readonly rotation: 0 | 90 | 180 | 270; readonly isMirrored: boolean };

export const UPRIGHT: Turn = { rotation: 0, isMirrored: false };

/** By the values 1 to 8 of the tag. Mirroring comes first, then the turn clockwise. */
const TURNS: readonly Turn[] = [
  UPRIGHT,
  { rotation: 0, isMirrored: true },
  { rotation: 180, isMirrored: false },
  { rotation: 180, isMirrored: true },
  { rotation: 270, isMirrored: true },
  { rotation: 90, isMirrored: false },
  { rotation: 90, isMirrored: true },
  { rotation: 270, isMirrored: false },
];

const ORIENTATION = 0x0112;
const ENTRY_BYTES = 12;
const LITTLE_ENDIAN = 0x4949;
const BIG_ENDIAN = 0x4d4d;

/** `tiff`: an Exif block from its byte order on. Upright where it has no valid orientation. */
export function parseOrientation(tiff: Uint8Array): Turn {
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  if (view.byteLength < 8) return UPRIGHT;
  const order = view.getUint16(0);
  if (order !== LITTLE_ENDIAN && order !== BIG_ENDIAN) return UPRIGHT;
  const isLittle = order === LITTLE_ENDIAN;
  const directory = view.getUint32(4, isLittle);
  if (directory + 2 > view.byteLength) return UPRIGHT;
  const count = view.getUint16(directory, isLittle);
  for (let n = 0; n < count; n += 1) {
    const at = directory + 2 + n * ENTRY_BYTES;
    if (at + ENTRY_BYTES > view.byteLength) break;
    if (view.getUint16(at, isLittle) === ORIENTATION)
      return TURNS[view.getUint16(at + 8, isLittle) - 1] ?? UPRIGHT;
  }
  return UPRIGHT;
}

/** Width and height as shown. */
export const turnSize = (size: PixelSize, { rotation }: Turn): PixelSize =>
  rotation === 90 || rotation === 270 ? { width: size.height, height: size.width } : size;

export type PixelSize = { readonly width: number; readonly height: number };
