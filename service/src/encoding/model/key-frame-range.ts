// Finds the bytes of a CMAF segment that show its first frame: from `moof` to the end of the first sample.
import { getBox, view } from './mp4-boxes.ts';

/** In bytes of the segment. */
export type KeyFrameRange = { readonly start: number; readonly length: number };

/** `head` must reach into the `trun` box. Undefined if the first frame is no key frame. */
export function readKeyFrameRange(head: Uint8Array): KeyFrameRange | undefined {
  const moof = getBox(view(head), 'moof');
  const traf = getBox(moof.body, 'traf').body;
  const defaults = readDefaults(getBox(traf, 'tfhd').body);
  const {
    dataOffset,
    size = defaults.size,
    flags = defaults.flags,
  } = readFirstSample(getBox(traf, 'trun').body);
  if (size === undefined) throw new Error('the size of the first sample is missing');
  const isKeyFrame = flags === undefined || (flags & NOT_SYNC) === 0;
  return isKeyFrame ? { start: moof.start, length: dataOffset + size } : undefined;
}

const NOT_SYNC = 0x1_0000;

/** Flag of `tfhd` → bytes of its optional member, in their order (ISO/IEC 14496-12, 8.8.7). */
const TFHD = [
  [0x01, 8],
  [0x02, 4],
  [0x08, 4],
  [0x10, 4],
  [0x20, 4],
] as const;

type Defaults = { readonly size: number | undefined; readonly flags: number | undefined };

function readDefaults(tfhd: DataView): Defaults {
  const present = tfhd.getUint32(0) & 0xff_ffff;
  const at = new Map<number, number>();
  let offset = 8;
  for (const [flag, bytes] of TFHD) {
    if ((present & flag) === 0) continue;
    at.set(flag, offset);
    offset += bytes;
  }
  const read = (flag: number): number | undefined => {
    const place = at.get(flag);
    return place === undefined ? undefined : tfhd.getUint32(place);
  };
  return { size: read(0x10), flags: read(0x20) };
}

type FirstSample = { readonly dataOffset: number; readonly size?: number; readonly flags?: number };

/** The members of `trun` and of its first sample are optional (ISO/IEC 14496-12, 8.8.8). */
function readFirstSample(trun: DataView): FirstSample {
  const present = trun.getUint32(0) & 0xff_ffff;
  if ((present & 0x1) === 0) throw new Error('the data offset of the samples is missing');
  let at = 12;
  const next = (flag: number): number | undefined => {
    if ((present & flag) === 0) return undefined;
    at += 4;
    return trun.getUint32(at - 4);
  };
  const firstFlags = next(0x4);
  next(0x100);
  const size = next(0x200);
  const flags = firstFlags ?? next(0x400);
  return {
    dataOffset: trun.getInt32(8),
    ...(size !== undefined && { size }),
    ...(flags !== undefined && { flags }),
  };
}
