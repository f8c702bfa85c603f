// Moves a CMAF segment of a chunk to its place in the whole video: its number and its times.
import { getBox, view } from '../model/mp4-boxes.ts';

type Move = {
  /** Added to all times, in the track's timescale. */
  readonly ticks: number;
  /** Added to the sequence number. */
  readonly segments: number;
};

/** Changes the bytes in place. `head` must reach into the `trun` box. */
export function moveSegment(head: Uint8Array, { ticks, segments }: Move): void {
  const bytes = view(head);
  addTime(getBox(bytes, 'sidx').body, { at: 12, ticks });
  const moof = getBox(bytes, 'moof').body;
  const mfhd = getBox(moof, 'mfhd').body;
  mfhd.setUint32(4, mfhd.getUint32(4) + segments);
  addTime(getBox(getBox(moof, 'traf').body, 'tfdt').body, { at: 4, ticks });
}

/** Both boxes store their time at the same place in either version, with 64 bits in version 1. */
function addTime(box: DataView, { at, ticks }: { at: number; ticks: number }): void {
  if (box.getUint8(0) === 1) {
    box.setBigUint64(at, box.getBigUint64(at) + BigInt(ticks));
    return;
  }
  const time = box.getUint32(at) + ticks;
  if (time > MAX_NARROW) throw new Error('a time of a segment exceeds 32 bits');
  box.setUint32(at, time);
}

const MAX_NARROW = 2 ** 32 - 1;
