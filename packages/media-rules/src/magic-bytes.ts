// Detects the file type from the first bytes, independent of name and declared type (contract B4).
import type { MediaType, Signature } from './media-type.ts';

/** `playlist`: text that makes a player or an encoder open other files. */
export type FileType = Signature | 'playlist' | 'unknown';

/** `ok`, or the failure code of contract B4. */
type FileTypeCheck = 'ok' | 'playlist' | 'type_mismatch';

/** The detection uses only this many bytes. */
export const HEAD_BYTES = 64 * 1024;

type FileTypeDetector = (bytes: Uint8Array) => FileType | undefined;

const DETECTORS: readonly FileTypeDetector[] = [
  detectImage,
  detectIsobmff,
  detectEbml,
  detectMpegTs,
  detectOthers,
  detectPlaylist,
];

export function detectFileType(head: Uint8Array): FileType {
  const bytes = head.subarray(0, HEAD_BYTES);
  for (const detector of DETECTORS) {
    const found = detector(bytes);
    if (found) return found;
  }
  return 'unknown';
}

export function checkFileType(declared: MediaType, detected: FileType): FileTypeCheck {
  if (detected === 'playlist') return 'playlist';
  return declared.signatures.some((look) => look === detected) ? 'ok' : 'type_mismatch';
}

/** One character for each byte; `TextDecoder` has no such encoding. */
export const toLatin1 = (bytes: Uint8Array, start: number, end: number): string =>
  Array.from(bytes.subarray(start, end), (byte) => String.fromCharCode(byte)).join('');

const IMAGES: readonly (readonly [Signature, RegExp])[] = [
  ['jpeg', /^\xff\xd8\xff/],
  ['png', /^\x89PNG\r\n.\n/s],
  ['gif', /^GIF8[79]a/],
  ['webp', /^RIFF.{4}WEBP/s],
];

function detectImage(bytes: Uint8Array): FileType | undefined {
  const start = toLatin1(bytes, 0, 16);
  return IMAGES.find(([, pattern]) => pattern.test(start))?.[0];
}

/** `ftyp` brands of still images. For generic brands, the compatible brands determine the codec. */
const STILL_BRANDS = new Map<string, FileType>([
  ...['avif', 'avis'].map((brand) => [brand, 'avif'] as const),
  ...['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs'].map(
    (brand) => [brand, 'heif'] as const,
  ),
  ...['jp2 ', 'jpx ', 'jpm ', 'jxl ', 'crx '].map((brand) => [brand, 'unknown'] as const),
]);
const GENERIC_STILL_BRANDS = ['mif1', 'msf1', 'miaf'];
/** First boxes of QuickTime files from before `ftyp` existed. */
const LEGACY_FIRST_BOXES = ['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'];

function detectIsobmff(bytes: Uint8Array): FileType | undefined {
  if (bytes.length < 8) return undefined;
  const type = toLatin1(bytes, 4, 8);
  if (LEGACY_FIRST_BOXES.includes(type)) return 'isobmff';
  if (type !== 'ftyp') return undefined;
  const major = toLatin1(bytes, 8, 12);
  if (!GENERIC_STILL_BRANDS.includes(major)) return STILL_BRANDS.get(major) ?? 'isobmff';
  const compatible = toLatin1(bytes, 16, unsigned(bytes.subarray(0, 4))).match(/.{4}/gs) ?? [];
  return compatible.map((brand) => STILL_BRANDS.get(brand)).find((still) => still !== undefined) ?? 'heif';
}

const EBML = 0x1a45dfa3;
const DOC_TYPE = 0x4282;
const DOC_TYPES = new Map<string, FileType>([
  ['webm', 'webm'],
  ['matroska', 'matroska'],
]);

/** The DocType element of the EBML header distinguishes Matroska and WebM. */
function detectEbml(bytes: Uint8Array): FileType | undefined {
  const header = elementAt(bytes, 0);
  if (header?.id !== EBML) return undefined;
  let child = elementAt(bytes, header.start);
  while (child && child.id !== DOC_TYPE && child.end < header.end) child = elementAt(bytes, child.end);
  if (child?.id !== DOC_TYPE) return undefined;
  return DOC_TYPES.get(toLatin1(bytes, child.start, child.end).replace(/\0+$/, ''));
}

type Element = { readonly id: number; readonly start: number; readonly end: number };

function elementAt(bytes: Uint8Array, at: number): Element | undefined {
  const idLength = numberLength(bytes[at]);
  const sizeAt = at + idLength;
  const sizeLength = numberLength(bytes[sizeAt]);
  const start = sizeAt + sizeLength;
  if (idLength > 4 || sizeLength > 8 || start > bytes.length) return undefined;
  const size = unsigned(bytes.subarray(sizeAt + 1, start), (bytes[sizeAt] ?? 0) & (0xff >> sizeLength));
  return { id: unsigned(bytes.subarray(at, sizeAt)), start, end: start + size };
}

/** The leading zeros of the first byte encode the length of an EBML number. */
const numberLength = (first = 0) => Math.clz32(first) - 23;
const unsigned = (bytes: Uint8Array, high = 0) => bytes.reduce((value, byte) => value * 256 + byte, high);

/** Packets of 188 bytes, or of 192 bytes with a preceding time stamp. */
const PACKETS = [
  { length: 188, sync: 0 },
  { length: 192, sync: 4 },
];
const MAX_CHECKED_PACKETS = 5;

function detectMpegTs(bytes: Uint8Array): FileType | undefined {
  const hasSyncBytes = PACKETS.some(({ length, sync }) => {
    const count = Math.min(MAX_CHECKED_PACKETS, Math.floor(bytes.length / length));
    return (
      count >= 2 &&
      Array.from({ length: count }, (_, n) => bytes[n * length + sync]).every((byte) => byte === 0x47)
    );
  });
  return hasSyncBytes ? 'mpegts' : undefined;
}

/** In hexadecimal digits. */
const OTHERS: readonly (readonly [Signature, RegExp])[] = [
  ['avi', /^52494646.{8}41564920/], // RIFF, length, AVI
  ['mpegps', /^000001ba/], // header of a pack
  ['flv', /^464c5601/], // FLV, version 1
  ['asf', /^3026b2758e66cf11a6d900aa0062ce6c/], // GUID of the header
  ['ogg', /^4f67675300/], // OggS, version 0
  ['mxf', /^060e2b34020501010d0102010102/], // key of the header partition
  ['flac', /^664c6143/], // fLaC
  ['wav', /^(?:52494646|52463634|42573634).{8}57415645/], // RIFF, RF64 or BW64, length, WAVE
  ['aac', /^fff[0189]/], // header of a frame: no file has one of its own
  ['mp3', /^(?:4944330[234]|ff(?:e[2-5]|f[2-5a-d]))/], // ID3, or the header of a frame of layer II or III
];

function detectOthers(bytes: Uint8Array): FileType | undefined {
  const start = Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return OTHERS.find(([, pattern]) => pattern.test(start))?.[0];
}

const PLAYLISTS: readonly RegExp[] = [
  /^(?:#[^\n]*\n\s*)*#EXT/i, // HLS, M3U
  /^ffconcat\s/i,
  /^\[(?:playlist|reference)\]/i, // PLS, ASX
  /^(?:v=0\s|(?:[a-z]=.*\r?\n)*c=IN\s)/, // SDP
  /^(?:<.*?)?<(?:\w+:)?(?:MPD|SmoothStreamingMedia|smil|playlist|asx)[\s>]/is, // the last but one: XSPF
];

function detectPlaylist(bytes: Uint8Array): FileType | undefined {
  const text = new TextDecoder().decode(bytes).replace(/^[\ufeff\s]+/, '');
  return PLAYLISTS.some((pattern) => pattern.test(text)) ? 'playlist' : undefined;
}
