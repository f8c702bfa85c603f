// Finds the boxes of ISO base media files: MP4, QuickTime, AVIF and HEIF.
import { toLatin1 } from '@mediary/media-rules/magic-bytes';
import type { BoundedReader } from './bounded-reader.ts';

/** `end` is exclusive. */
export type Box = {
  readonly type: string;
  /** Of the header. */
  readonly at: number;
  /** Of the content. */
  readonly start: number;
  readonly end: number;
};

const HEADER_BYTES = 8;
const LONG_HEADER_BYTES = 16;
/** More boxes side by side are no file of a camera or an encoder. */
const MAX_BOXES = 4096;

/** The boxes of a range of a file, whose content is not read. */
export async function* readBoxes(reader: BoundedReader, from: number, to: number): AsyncGenerator<Box> {
  for (let at = from, count = 0; at + HEADER_BYTES <= to && count < MAX_BOXES; count += 1) {
    const box = parseBox(await reader.read(at, at + LONG_HEADER_BYTES), at, to);
    if (!box) return;
    yield box;
    at = box.end;
  }
}

/** The boxes of bytes; `from` and all positions are relative to their start. */
export function listBoxes(bytes: Uint8Array, from: number, to: number): Box[] {
  const boxes: Box[] = [];
  for (let at = from; at + HEADER_BYTES <= to && boxes.length < MAX_BOXES; ) {
    const box = parseBox(bytes.subarray(at, at + LONG_HEADER_BYTES), at, to);
    if (!box) break;
    boxes.push(box);
    at = box.end;
  }
  return boxes;
}

/** Undefined if no box starts here. The size 0 stands for the rest of the range. */
function parseBox(header: Uint8Array, at: number, to: number): Box | undefined {
  if (header.length < HEADER_BYTES) return undefined;
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const short = view.getUint32(0);
  const isLong = short === 1;
  if (isLong && header.length < LONG_HEADER_BYTES) return undefined;
  const headerBytes = isLong ? LONG_HEADER_BYTES : HEADER_BYTES;
  const size = isLong ? Number(view.getBigUint64(HEADER_BYTES)) : short;
  if (size !== 0 && size < headerBytes) return undefined;
  const end = size === 0 ? to : Math.min(to, at + size);
  return { type: toLatin1(header, 4, 8), at, start: at + headerBytes, end };
}
