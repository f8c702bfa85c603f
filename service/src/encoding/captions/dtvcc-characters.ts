// The characters of digital captions (CTA-708-E, 7.1).

/** The additional characters of the set G2. */
const G2: ReadonlyMap<number, string> = new Map([
  [0x20, ' '],
  [0x21, '\u00A0'],
  [0x25, '…'],
  [0x2a, 'Š'],
  [0x2c, 'Œ'],
  [0x30, '█'],
  [0x31, '‘'],
  [0x32, '’'],
  [0x33, '“'],
  [0x34, '”'],
  [0x35, '•'],
  [0x39, '™'],
  [0x3a, 'š'],
  [0x3c, 'œ'],
  [0x3d, '℠'],
  [0x3f, 'Ÿ'],
  [0x76, '⅛'],
  [0x77, '⅜'],
  [0x78, '⅝'],
  [0x79, '⅞'],
  [0x7a, '│'],
  [0x7b, '┐'],
  [0x7c, '└'],
  [0x7d, '─'],
  [0x7e, '┘'],
  [0x7f, '┌'],
]);

/** What decoders show instead of a character that they do not know. */
const UNKNOWN = '_';
const CAPTION_SYMBOL = 0xa0;

/** G0 is ASCII but for its last character, G1 is Latin-1. */
export const toDtvccCharacter = (code: number): string => (code === 0x7f ? '♪' : String.fromCharCode(code));

/** Of G2, or of G3, which has one character. */
export const toExtendedDtvccCharacter = (code: number): string =>
  code === CAPTION_SYMBOL ? '[CC]' : (G2.get(code) ?? UNKNOWN);
