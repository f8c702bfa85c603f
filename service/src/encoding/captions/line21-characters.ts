// The characters of line 21 captions (CTA-608-E, 6.4.2 and annex I).

/** The basic set is ASCII with exceptions. */
const BASIC: ReadonlyMap<number, string> = new Map([
  [0x27, '’'],
  [0x2a, 'á'],
  [0x5c, 'é'],
  [0x5e, 'í'],
  [0x5f, 'ó'],
  [0x60, 'ú'],
  [0x7b, 'ç'],
  [0x7c, '÷'],
  [0x7d, 'Ñ'],
  [0x7e, 'ñ'],
  [0x7f, '█'],
]);

/** From 0x30 on. The tenth is a transparent space. */
const SPECIAL = '®°½¿™¢£♪à\u00A0èâêîôû';
/** From 0x20 on, as are the next ones. */
const SPANISH_AND_FRENCH = 'ÁÉÓÚÜü‘¡*’—©℠•“”ÀÂÇÈÊËëÎÏïÔÙùÛ«»';
const PORTUGUESE_AND_GERMAN = 'ÃãÍÌìÒòÕõ{}\\^_|~ÄäÖöß¥¤│ÅåØø┌┐└┘';

export const toBasicCharacter = (code: number): string => BASIC.get(code) ?? String.fromCharCode(code);

export const toSpecialCharacter = (code: number): string => SPECIAL[code - 0x30] ?? ' ';

/** `set`: the first byte of the pair, 0x12 or 0x13. */
export const toExtendedCharacter = (set: number, code: number): string =>
  (set === 0x12 ? SPANISH_AND_FRENCH : PORTUGUESE_AND_GERMAN)[code - 0x20] ?? ' ';
