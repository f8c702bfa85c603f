// Reads what a camera wrote into a photo (EXIF 2.32, CIPA DC-008), each value by itself and within limits.
import type { AssetMedia } from '@mediary/contract/schemas/assets/asset-media';

type PhotoFacts = NonNullable<AssetMedia['photo']>;

const MARK = 'Exif\0\0';
const TAGS = { make: 0x010f, model: 0x0110, orientation: 0x0112, exif: 0x8769, gps: 0x8825 } as const;
const EXIF_TAGS = { takenAt: 0x9003, zone: 0x9011 } as const;
const GPS_TAGS = { north: 1, latitude: 2, east: 3, longitude: 4, below: 5, altitude: 6 } as const;

const TYPES = { byte: 1, text: 2, short: 3, long: 4, rational: 5 } as const;
/** Of one value; others have one byte, or are not read. */
const TYPE_BYTES: Readonly<Record<number, number>> = {
  [TYPES.short]: 2,
  [TYPES.long]: 4,
  [TYPES.rational]: 8,
};
const ENTRY_BYTES = 12;
const MAX_ENTRIES = 1000;
const MAX_TEXT_BYTES = 256;
const MAX_TEXT_LENGTH = 100;

/** The position of a value is relative to the header. */
type Entry = { readonly type: number; readonly count: number; readonly at: number };
type Header = { readonly view: DataView; readonly isLittle: boolean };
type Entries<Names extends string> = Header & { readonly of: Readonly<Partial<Record<Names, Entry>>> };

/** Null if the bytes are no EXIF, or say nothing of this. */
export function readPhotoFacts(exif: Uint8Array | undefined): PhotoFacts | null {
  try {
    return exif ? parse(openHeader(exif)) : null;
  } catch (error) {
    // An offset behind the end: a damaged description does not spoil the picture.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The EXIF of HEIC and HEIF, which sharp does not read. */
export function findExif(heif: Buffer): Uint8Array | undefined {
  const at = heif.indexOf(MARK, 0, 'latin1');
  return at < 0 ? undefined : heif.subarray(at);
}

function openHeader(exif: Uint8Array): Header {
  const bytes = Buffer.from(exif.buffer, exif.byteOffset, exif.byteLength);
  const start = bytes.toString('latin1', 0, MARK.length) === MARK ? MARK.length : 0;
  const view = new DataView(exif.buffer, exif.byteOffset + start, exif.byteLength - start);
  return { view, isLittle: bytes.toString('latin1', start, start + 2) === 'II' };
}

const MAGIC = 42;

function parse(header: Header): PhotoFacts | null {
  const { view, isLittle } = header;
  if (view.getUint16(2, isLittle) !== MAGIC) return null;
  const image = readEntries(header, view.getUint32(4, isLittle), TAGS);
  const exif = readEntries(header, readOffset(image, 'exif'), EXIF_TAGS);
  const gps = readEntries(header, readOffset(image, 'gps'), GPS_TAGS);
  const orientation = readNumber(image, 'orientation');
  const facts = {
    camera: describeCamera(readText(image, 'make'), readText(image, 'model')),
    taken_at: toTime(readText(exif, 'takenAt'), readText(exif, 'zone')),
    location: readLocation(gps),
  };
  const isOriented = orientation !== undefined && orientation >= 1 && orientation <= 8;
  if (!isOriented && Object.values(facts).every((fact) => fact === null)) return null;
  return { ...facts, orientation: isOriented ? orientation : 1 };
}

function readEntries<Names extends string>(
  header: Header,
  at: number | undefined,
  tags: Readonly<Record<Names, number>>,
): Entries<Names> {
  const { view, isLittle } = header;
  const of: Partial<Record<Names, Entry>> = {};
  if (at === undefined) return { ...header, of };
  const names = new Map(Object.entries(tags).map(([name, tag]) => [tag, name as Names]));
  const count = Math.min(view.getUint16(at, isLittle), MAX_ENTRIES);
  for (let entry = at + 2; entry < at + 2 + count * ENTRY_BYTES; entry += ENTRY_BYTES) {
    const name = names.get(view.getUint16(entry, isLittle));
    if (name === undefined) continue;
    const type = view.getUint16(entry + 2, isLittle);
    const values = view.getUint32(entry + 4, isLittle);
    const isInside = values * (TYPE_BYTES[type] ?? 1) <= 4;
    of[name] = { type, count: values, at: isInside ? entry + 8 : view.getUint32(entry + 8, isLittle) };
  }
  return { ...header, of };
}

function readNumber<Names extends string>(
  { view, isLittle, of }: Entries<Names>,
  name: Names,
): number | undefined {
  const entry = of[name];
  if (entry?.type === TYPES.byte) return view.getUint8(entry.at);
  if (entry?.type === TYPES.short) return view.getUint16(entry.at, isLittle);
  return entry?.type === TYPES.long ? view.getUint32(entry.at, isLittle) : undefined;
}

const readOffset = <Names extends string>(entries: Entries<Names>, name: Names): number | undefined =>
  entries.of[name]?.type === TYPES.long ? readNumber(entries, name) : undefined;

/** Undefined if there is no text. Cameras pad with zeros and spaces. */
function readText<Names extends string>({ view, of }: Entries<Names>, name: Names): string | undefined {
  const entry = of[name];
  if (entry?.type !== TYPES.text) return undefined;
  const bytes = new Uint8Array(
    view.buffer,
    view.byteOffset + entry.at,
    Math.min(entry.count, MAX_TEXT_BYTES),
  );
  const [text = ''] = Buffer.from(bytes).toString('utf8').split('\0');
  return (
    text
      .replaceAll(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, MAX_TEXT_LENGTH)
      .toWellFormed() || undefined
  );
}

function readRationals<Names extends string>(
  { view, isLittle, of }: Entries<Names>,
  name: Names,
  count: number,
) {
  const entry = of[name];
  if (entry?.type !== TYPES.rational || entry.count !== count) return [];
  return Array.from({ length: count }, (_, n) => {
    const at = entry.at + n * 8;
    return view.getUint32(at, isLittle) / view.getUint32(at + 4, isLittle);
  });
}

/** Many models begin with the name of their maker. */
function describeCamera(make: string | undefined, model: string | undefined): string | null {
  if (make === undefined || model === undefined) return model ?? make ?? null;
  const [maker = ''] = make.split(' ');
  return model.toLowerCase().startsWith(maker.toLowerCase()) ? model : `${make} ${model}`;
}

const TIME = /^(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)$/;
const ZONE = /^[+-]\d\d:\d\d$/;

function toTime(text: string | undefined, zone: string | undefined): string | null {
  const [, year, month, day, time] = TIME.exec(text ?? '') ?? [];
  const local = `${year}-${month}-${day}T${time}`;
  const date = new Date(`${local}Z`);
  if (time === undefined || Number.isNaN(date.getTime()) || !date.toISOString().startsWith(local))
    return null;
  return zone !== undefined && ZONE.test(zone) ? local + zone : local;
}

function readLocation(gps: Entries<keyof typeof GPS_TAGS>): PhotoFacts['location'] {
  const latitude = toDegrees(readRationals(gps, 'latitude', 3), readText(gps, 'north') === 'S', 90);
  const longitude = toDegrees(readRationals(gps, 'longitude', 3), readText(gps, 'east') === 'W', 180);
  if (latitude === undefined || longitude === undefined) return null;
  const [metres = Number.NaN] = readRationals(gps, 'altitude', 1);
  const altitude = readNumber(gps, 'below') === 1 ? -metres : metres;
  return { latitude, longitude, altitude_m: Number.isFinite(altitude) ? round(altitude, 1) : null };
}

function toDegrees(
  [degrees = Number.NaN, minutes = 0, seconds = 0]: number[],
  isNegative: boolean,
  max: number,
) {
  const value = degrees + minutes / 60 + (Number.isFinite(seconds) ? seconds : 0) / 3600;
  if (!Number.isFinite(value) || value > max) return undefined;
  return round(isNegative ? -value : value, 6);
}

const round = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits;
