// Parses the MP4 boxes of our own CMAF files that manifests need; throws on any other structure.

export type TrackHeader = {
  readonly timescale: number;
  /** RFC 6381, for example `avc1.64001f`. */
  readonly codec: string;
  /** Null for audio. */
  readonly size: { readonly width: number; readonly height: number } | null;
  /** Set for video that states its colours. */
  readonly colour?: Colour;
};

/** Code points of ISO/IEC 23091-2 (CICP). */
export type Colour = {
  readonly primaries: number;
  readonly transfer: number;
  readonly matrix: number;
  readonly isFullRange: boolean;
};

/** In ticks of the track's timescale. */
export type SegmentTimes = { readonly start: number; readonly duration: number };

type Box = {
  readonly type: string;
  /** Where the box begins. */
  readonly start: number;
  readonly body: DataView;
  /** False when the end of the bytes cuts it off. */
  readonly isComplete: boolean;
};

export function readTrackHeader(init: Uint8Array): TrackHeader {
  const media = boxAt(view(init), ['moov', 'trak', 'mdia']);
  const entry = firstBox(inner(boxAt(media, ['minf', 'stbl', 'stsd']), 8));
  return { timescale: timescaleOf(boxAt(media, ['mdhd'])), ...sampleEntry(entry) };
}

/** Much larger than all that precedes the list of samples in a segment. */
export const SEGMENT_HEAD_BYTES = 4096;

/** Needs only the first bytes of a segment, because `sidx` precedes the samples. */
export function readSegmentTimes(head: Uint8Array): SegmentTimes {
  const sidx = boxAt(view(head), ['sidx']);
  const wide = sidx.getUint8(0) === 1;
  const start = wide ? Number(sidx.getBigUint64(12)) : sidx.getUint32(12);
  const references = inner(sidx, wide ? 30 : 22);
  let duration = 0;
  for (let index = 0; index < references.getUint16(0); index += 1)
    duration += references.getUint32(2 + index * 12 + 4);
  return { start, duration };
}

/** What codec strings of AV1 stand for that do not state colours. */
const BT709: Colour = { primaries: 1, transfer: 1, matrix: 1, isFullRange: false };

/** Sample entry → the codec string of its configuration box (RFC 6381). */
const VIDEO_CODECS: Readonly<Record<string, (entry: DataView, colour?: Colour) => string>> = {
  avc1: (entry) => `avc1.${hexOf(boxAt(entry, ['avcC']), 1, 3).join('')}`,
  hvc1: (entry) => `hvc1.${hevcCodec(boxAt(entry, ['hvcC']))}`,
  av01: (entry, colour) => `av01.${av1Codec(boxAt(entry, ['av1C']), colour)}`,
};

/** Profile, compatibility flags, tier with level, and constraints (ISO/IEC 14496-15, annex E). */
function hevcCodec(hvcC: DataView): string {
  const [head, flags] = [hvcC.getUint8(1), hvcC.getUint32(2)];
  const space = ['', 'A', 'B', 'C'][head >> 6];
  const tier = head & 0x20 ? 'H' : 'L';
  const constraints = hexOf(hvcC, 6, 6).map((byte) => byte.replace(/^0/, ''));
  while (constraints.at(-1) === '0') constraints.pop();
  const parts = [`${space}${head & 0x1f}`, reversed(flags), `${tier}${hvcC.getUint8(12)}`, ...constraints];
  return parts.join('.').toUpperCase();
}

/** The compatibility flags are written in reverse bit order. */
const reversed = (flags: number): string =>
  Number.parseInt([...flags.toString(2).padStart(32, '0')].reverse().join(''), 2).toString(16);

/** Profile, level with tier, bit depth, and colours that are not BT.709 (AV1 in ISOBMFF, section 5). */
function av1Codec(av1C: DataView, colour = BT709): string {
  const [levels, depths] = [av1C.getUint8(1), av1C.getUint8(2)];
  const level = twoDigits(levels & 0x1f);
  const depth = depths & 0x40 ? (depths & 0x20 ? 12 : 10) : 8;
  const layout = `${levels >> 5}.${level}${depths & 0x80 ? 'H' : 'M'}.${twoDigits(depth)}`;
  const { primaries, transfer, matrix, isFullRange } = colour;
  if (primaries === 1 && transfer === 1 && matrix === 1 && !isFullRange) return layout;
  const chroma = `${(depths >> 3) & 1}${(depths >> 2) & 1}${depths & 3}`;
  const codes = [primaries, transfer, matrix].map(twoDigits).join('.');
  return `${layout}.${(depths >> 4) & 1}.${chroma}.${codes}.${isFullRange ? 1 : 0}`;
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

const timescaleOf = (mdhd: DataView): number => mdhd.getUint32(mdhd.getUint8(0) === 1 ? 20 : 12);

function sampleEntry({ type, body }: Box): Omit<TrackHeader, 'timescale'> {
  const video = VIDEO_CODECS[type];
  if (video) {
    const entry = inner(body, 78);
    const colour = readColour(entry);
    const size = { width: body.getUint16(24), height: body.getUint16(26) };
    return { codec: video(entry, colour), size, ...(colour && { colour }) };
  }
  if (type === 'mp4a')
    return { codec: `mp4a.40.${audioObjectType(boxAt(inner(body, 28), ['esds']))}`, size: null };
  // Their codec strings have no parameters (ETSI TS 102 366, annex F).
  if (type === 'ac-3' || type === 'ec-3') return { codec: type, size: null };
  throw new Error(`unexpected sample entry ${type}`);
}

/** Undefined without a `colr` box of the kind that ffmpeg writes. */
function readColour(entry: DataView): Colour | undefined {
  const colr = boxes(entry).find(({ type }) => type === 'colr')?.body;
  if (!colr || colr.byteLength < 11 || text(colr, 0) !== 'nclx') return undefined;
  return {
    primaries: colr.getUint16(4),
    transfer: colr.getUint16(6),
    matrix: colr.getUint16(8),
    isFullRange: (colr.getUint8(10) & 0x80) !== 0,
  };
}

/** Audio object type: the first five bits of the decoder configuration in the nested descriptors. */
function audioObjectType(esds: DataView): number {
  const stream = descriptor(inner(esds, 4), 0x03);
  const decoder = descriptor(inner(stream, 3), 0x04);
  return descriptor(inner(decoder, 13), 0x05).getUint8(0) >> 3;
}

/** The length of a descriptor uses seven bits per byte; the eighth bit marks a continuation. */
function descriptor(bytes: DataView, tag: number): DataView {
  if (bytes.getUint8(0) !== tag) throw new Error(`descriptor ${tag} is missing`);
  let at = 1;
  while (bytes.getUint8(at) & 0x80) at += 1;
  return inner(bytes, at + 1);
}

function boxAt(bytes: DataView, path: readonly string[]): DataView {
  return path.reduce((within, type) => {
    const box = boxes(within).find((each) => each.type === type);
    if (!box) throw new Error(`box ${type} is missing`);
    return box.body;
  }, bytes);
}

/** The box may be cut off. */
export function getBox(bytes: DataView, type: string): Box {
  const box = listBoxes(bytes).find((each) => each.type === type);
  if (!box) throw new Error(`box ${type} is missing`);
  return box;
}

function firstBox(bytes: DataView): Box {
  const [box] = boxes(bytes);
  if (!box) throw new Error('box expected');
  return box;
}

const boxes = (bytes: DataView): Box[] => listBoxes(bytes).filter(({ isComplete }) => isComplete);

/** 64-bit sizes and "to the end" do not occur in these files. */
function listBoxes(bytes: DataView): Box[] {
  const found: Box[] = [];
  for (let at = 0; at + 8 <= bytes.byteLength; ) {
    const size = bytes.getUint32(at);
    if (size < 8) break;
    const end = Math.min(at + size, bytes.byteLength);
    found.push({
      type: text(bytes, at + 4),
      start: at,
      body: new DataView(bytes.buffer, bytes.byteOffset + at + 8, end - at - 8),
      isComplete: end === at + size,
    });
    at += size;
  }
  return found;
}

export const view = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const inner = (bytes: DataView, from: number): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset + from, bytes.byteLength - from);
const text = (bytes: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((offset) => bytes.getUint8(at + offset)));
const hexOf = (bytes: DataView, from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    bytes
      .getUint8(from + index)
      .toString(16)
      .padStart(2, '0'),
  );
