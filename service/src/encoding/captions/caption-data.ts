// Finds caption data (cc_data of ATSC A/53, part 4) in the units of a video stream.
// SEI messages: ITU-T H.264, 7.3.2.3; H.265, 7.3.5.

/** Names of the codecs in ffmpeg. `eia_608`: a caption track of QuickTime. */
export const CAPTION_CODECS = ['h264', 'hevc', 'mpeg2video', 'eia_608'] as const;
export type CaptionCodec = (typeof CAPTION_CODECS)[number];

/** Three bytes each: marker, validity and type (CTA-708, 4.4), then two bytes of captions. */
export type Triplets = Uint8Array;

export const TRIPLET_BYTES = 3;

const SEI = { h264: { header: 1, types: [6] }, hevc: { header: 2, types: [39, 40] } } as const;
const USER_DATA_START = 0xb2;
/** SEI message user_data_registered_itu_t_t35. */
const REGISTERED_USER_DATA = 4;
/** Country (USA) and provider (ATSC) of a registered message. */
const ATSC = [0xb5, 0x00, 0x31] as const;
/** `GA94`, then the type of caption data. */
const CC_DATA = [0x47, 0x41, 0x39, 0x34, 0x03] as const;
const HAS_TRIPLETS = 0x40;
const COUNT = 0x1f;

/** The caption data of one picture, in the order of transmission. */
export function findTriplets(codec: CaptionCodec, packet: Uint8Array): readonly Triplets[] {
  if (codec === 'eia_608') return [packet.subarray(0, packet.length - (packet.length % TRIPLET_BYTES))];
  const units = splitUnits(packet);
  if (codec === 'mpeg2video')
    return units.flatMap((unit) => (unit[0] === USER_DATA_START ? readUserData(unit.subarray(1)) : []));
  const { header, types } = SEI[codec];
  return units.flatMap((unit) => {
    const type = codec === 'h264' ? (unit[0] ?? 0) & 0x1f : ((unit[0] ?? 0) >> 1) & 0x3f;
    return types.some((known) => known === type) ? readSei(unescapeUnit(unit.subarray(header))) : [];
  });
}

/** The bytes between start codes, which are `00 00 01`. */
function splitUnits(packet: Uint8Array): Uint8Array[] {
  const starts: number[] = [];
  for (let index = 0; index + 2 < packet.length; index += 1)
    if (packet[index] === 0 && packet[index + 1] === 0 && packet[index + 2] === 1) starts.push(index + 3);
  return starts.map((start, index) => {
    const next = starts[index + 1];
    return packet.subarray(start, next === undefined ? packet.length : next - 3);
  });
}

/** Removes the 3 of each `00 00 03`, which keeps start codes out of the unit. */
function unescapeUnit(unit: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(unit.length);
  let [length, zeros] = [0, 0];
  for (const byte of unit) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    bytes[length] = byte;
    length += 1;
  }
  return bytes.subarray(0, length);
}

function readSei(bytes: Uint8Array): Triplets[] {
  const found: Triplets[] = [];
  let position = 0;
  // The last byte is the stop bit.
  while (position + 2 < bytes.length) {
    const type = readNumber(bytes, position);
    const size = readNumber(bytes, type.end);
    const payload = bytes.subarray(size.end, size.end + size.value);
    if (type.value === REGISTERED_USER_DATA && startsWith(payload, ATSC))
      found.push(...readUserData(payload.subarray(ATSC.length)));
    position = size.end + size.value;
  }
  return found;
}

/** Each byte of 255 is followed by another one, and all are added. */
function readNumber(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } {
  let end = start;
  while (bytes[end] === 255) end += 1;
  return { value: (end - start) * 255 + (bytes[end] ?? 0), end: end + 1 };
}

function readUserData(data: Uint8Array): Triplets[] {
  if (!startsWith(data, CC_DATA)) return [];
  const flags = data[CC_DATA.length] ?? 0;
  if ((flags & HAS_TRIPLETS) === 0) return [];
  // One byte without meaning precedes the triplets.
  const start = CC_DATA.length + 2;
  const available = Math.max(0, Math.floor((data.length - start) / TRIPLET_BYTES));
  return [data.subarray(start, start + Math.min(flags & COUNT, available) * TRIPLET_BYTES)];
}

const startsWith = (bytes: Uint8Array, expected: readonly number[]): boolean =>
  expected.every((byte, index) => bytes[index] === byte);
