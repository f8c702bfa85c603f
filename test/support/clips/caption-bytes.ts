// Closed captions as bytes: codes of line 21 (CTA-608-E, annexes A and B) and packets of digital captions.

/** Two bytes without parity. */
export type Pair = readonly [number, number];
/** Type and two bytes: 0 and 1 are the fields of line 21, 2 and 3 digital captions. */
export type Triplet = readonly [type: number, first: number, second: number];
/** Number of the frame → what it carries. */
export type Programme = ReadonlyMap<number, readonly Triplet[]>;

const VALID = 0xfc;

const withParity = (code: number): number => {
  const ones = [...code.toString(2)].filter((bit) => bit === '1').length;
  return ones % 2 === 1 ? code : code | 0x80;
};

/** Each control is sent twice. */
const twice = (...pair: Pair): Pair[] => [pair, pair];

/** Controls of CC1, by their names in the standard. */
export const codes = {
  RCL: twice(0x14, 0x20),
  BS: twice(0x14, 0x21),
  RU2: twice(0x14, 0x25),
  RDC: twice(0x14, 0x29),
  TR: twice(0x14, 0x2a),
  EDM: twice(0x14, 0x2c),
  CR: twice(0x14, 0x2d),
  ENM: twice(0x14, 0x2e),
  EOC: twice(0x14, 0x2f),
  /** Moves the cursor by two columns. */
  TAB2: twice(0x17, 0x22),
  ITALIC: twice(0x11, 0x2e),
  PLAIN: twice(0x11, 0x20),
  /** Preamble of a row: first column, white. */
  ROW1: twice(0x11, 0x50),
  ROW14: twice(0x14, 0x50),
  ROW15: twice(0x14, 0x70),
} as const;

/** Characters of the basic set. */
export const text = (characters: string): Pair[] =>
  Array.from({ length: Math.ceil(characters.length / 2) }, (_, index) => [
    characters.charCodeAt(2 * index),
    characters.charCodeAt(2 * index + 1) || 0,
  ]);

/** The same for the second channel of the field. */
export const onSecondChannel = (pairs: readonly Pair[]): Pair[] =>
  pairs.map(([first, second]) => [first >= 0x10 && first < 0x20 ? first | 0x08 : first, second]);

export const toTriplets = (pairs: readonly Pair[], type: 0 | 1 = 0): Triplet[] =>
  pairs.map(([first, second]) => [type, withParity(first), withParity(second)]);

/** One triplet for each frame from the given ones on. */
export function schedule(parts: Readonly<Record<number, readonly Triplet[]>>): Programme {
  const programme = new Map<number, Triplet[]>();
  for (const [start, triplets] of Object.entries(parts))
    for (const [index, triplet] of triplets.entries()) {
      const frame = Number(start) + index;
      programme.set(frame, [...(programme.get(frame) ?? []), triplet]);
    }
  return programme;
}

/** A packet of digital captions with one block for a service. */
export function dtvccPacket(service: number, codes: readonly number[]): Triplet[] {
  const data = [
    ...(service < 7 ? [(service << 5) | codes.length] : [0xe0 | codes.length, service]),
    ...codes,
  ];
  const size = Math.ceil((data.length + 1) / 2);
  const bytes = [size, ...data, ...Array.from({ length: 2 * size - data.length - 1 }, () => 0)];
  return Array.from({ length: size }, (_, index) => [
    index === 0 ? 3 : 2,
    bytes[2 * index] ?? 0,
    bytes[2 * index + 1] ?? 0,
  ]);
}

export const bytesOf = (characters: string): number[] =>
  [...characters].map((character) => character.charCodeAt(0));

/** As they stand in a stream. */
export const tripletBytes = (triplets: readonly Triplet[]): Uint8Array =>
  Uint8Array.from(triplets.flatMap(([type, first, second]) => [VALID | type, first, second]));

/** A picture without captions carries empty pairs of both fields. */
const PADDING: readonly Triplet[] = [
  [0, 0x80, 0x80],
  [1, 0x80, 0x80],
];

/** `GA94` user data of a picture (ATSC A/53, part 4). */
export function userData(triplets: readonly Triplet[] = []): Buffer {
  const carried = [...triplets, ...PADDING.filter(([type]) => !triplets.some(([other]) => other === type))];
  return Buffer.from([
    ...bytesOf('GA94'),
    ...[0x03, 0x40 | carried.length, 0xff],
    ...tripletBytes(carried),
    0xff,
  ]);
}
