// Reads size and orientation of AVIF and HEIF images from their boxes.
import { toLatin1 } from '@mediary/media-rules/magic-bytes';
import type { BoundedReader } from './bounded-reader.ts';
import { type Box, listBoxes, readBoxes } from './boxes.ts';
import { type PixelSize, type Turn, UPRIGHT } from './exif-orientation.ts';
import type { ImageHeader } from './image-headers.ts';

const SEQUENCE_BRAND = 'avis';
const MAX_META_BYTES = 1024 ** 2;
/** Version and flags. */
const FULL_BOX_BYTES = 4;

type Meta = { readonly bytes: Uint8Array; readonly view: DataView; readonly boxes: readonly Box[] };

export async function readStillHeader(reader: BoundedReader): Promise<ImageHeader | undefined> {
  let isSequence = false;
  for await (const box of readBoxes(reader, 0, reader.sizeBytes)) {
    if (box.type === 'ftyp') isSequence = await hasSequenceBrand(reader, box);
    if (box.type !== 'meta') continue;
    const header = parseMeta(await reader.read(box.start, Math.min(box.end, box.start + MAX_META_BYTES)));
    return header && { ...header, frames: 1, isAnimationDropped: isSequence };
  }
  return undefined;
}

async function hasSequenceBrand(reader: BoundedReader, { start, end }: Box): Promise<boolean> {
  const bytes = await reader.read(start, Math.min(end, start + 1024));
  const brands = toLatin1(bytes, 0, bytes.length).match(/.{4}/gs) ?? [];
  // The second four bytes are a version.
  return brands.some((brand, index) => index !== 1 && brand === SEQUENCE_BRAND);
}

function parseMeta(bytes: Uint8Array): Pick<ImageHeader, 'size' | 'turn'> | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const meta = { bytes, view, boxes: listBoxes(bytes, FULL_BOX_BYTES, bytes.length) };
  const primary = readPrimaryItem(meta);
  if (primary === undefined) return undefined;
  let size: PixelSize | undefined;
  let turn: Turn = UPRIGHT;
  for (const { type, start } of findProperties(meta, primary)) {
    if (type === 'ispe') size = { width: view.getUint32(start + 4), height: view.getUint32(start + 8) };
    if (type === 'clap') size = parseAperture(view, start) ?? size;
    if (type === 'irot')
      turn = { ...turn, rotation: addAngles(turn.rotation, -90 * (view.getUint8(start) & 3)) };
    if (type === 'imir') turn = mirror(turn, (view.getUint8(start) & 1) === 0);
  }
  return size && { size, turn };
}

const ROTATIONS = [0, 90, 180, 270] as const;

const addAngles = (one: number, other: number): Turn['rotation'] =>
  ROTATIONS[((((one + other) / 90) % 4) + 4) % 4] ?? 0;

/** Mirrors a picture that was turned: as if it was mirrored first and turned the other way. */
const mirror = ({ rotation, isMirrored }: Turn, isUpsideDown: boolean): Turn => ({
  rotation: addAngles(isUpsideDown ? 180 : 0, -rotation),
  isMirrored: !isMirrored,
});

function readPrimaryItem({ view, boxes }: Meta): number | undefined {
  const box = boxes.find(({ type }) => type === 'pitm');
  if (!box) return undefined;
  return view.getUint8(box.start) === 0 ? view.getUint16(box.start + 4) : view.getUint32(box.start + 4);
}

/** Width and height of the part that is shown. */
function parseAperture(view: DataView, at: number): PixelSize | undefined {
  const width = Math.round(view.getUint32(at) / view.getUint32(at + 4));
  const height = Math.round(view.getUint32(at + 8) / view.getUint32(at + 12));
  return width > 0 && height > 0 && Number.isFinite(width * height) ? { width, height } : undefined;
}

/** The properties of an item, in the order in which they apply. */
function findProperties({ bytes, view, boxes }: Meta, item: number): readonly Box[] {
  const container = boxes.find(({ type }) => type === 'iprp');
  if (!container) return [];
  const inner = listBoxes(bytes, container.start, container.end);
  const shared = inner.find(({ type }) => type === 'ipco');
  if (!shared) return [];
  const properties = listBoxes(bytes, shared.start, shared.end);
  return inner
    .filter(({ type }) => type === 'ipma')
    .flatMap((box) => listAssociations(view, box).filter(([id]) => id === item))
    .flatMap(([, index]) => properties[index - 1] ?? []);
}

function listAssociations(view: DataView, { start }: Box): [item: number, property: number][] {
  const version = view.getUint8(start);
  const isLong = (view.getUint8(start + 3) & 1) === 1;
  const found: [item: number, property: number][] = [];
  let at = start + FULL_BOX_BYTES + 4;
  for (let left = view.getUint32(start + FULL_BOX_BYTES); left > 0; left -= 1) {
    const item = version === 0 ? view.getUint16(at) : view.getUint32(at);
    at += version === 0 ? 2 : 4;
    const count = view.getUint8(at);
    at += 1;
    for (let n = 0; n < count; n += 1) {
      found.push([item, isLong ? view.getUint16(at) & 0x7fff : view.getUint8(at) & 0x7f]);
      at += isLong ? 2 : 1;
    }
  }
  return found;
}
