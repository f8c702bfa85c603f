// Decodes the byte pairs of one field of line 21, which has two channels of captions (CTA-608-E, 8).
import { type Pen, PLAIN_PEN } from './caption-screen.ts';
import { toBasicCharacter, toExtendedCharacter, toSpecialCharacter } from './line21-characters.ts';
import { createLine21Channel, type Line21Channel } from './line21-channel.ts';

type Line21Field = {
  readonly channels: readonly [Line21Channel, Line21Channel];
  readonly push: (seconds: number, first: number, second: number) => void;
};

type BytePair = { readonly seconds: number; readonly first: number; readonly second: number };

export function createLine21Field(): Line21Field {
  const channels = [createLine21Channel(), createLine21Channel()] as const;
  let channel: Line21Channel | undefined;
  // Controls are sent twice, in case that one is lost.
  let repeatable: number | undefined;
  let isInData = false;
  const control = (pair: BytePair): void => {
    const code = (pair.first << 8) | pair.second;
    const isRepeat = code === repeatable;
    repeatable = isRepeat ? undefined : code;
    isInData = false;
    if (isRepeat) return;
    channel = channels[(pair.first & CHANNEL_BIT) === 0 ? 0 : 1];
    runControl(channel, { ...pair, first: pair.first & ~CHANNEL_BIT });
  };
  const push = (seconds: number, rawFirst: number, rawSecond: number): void => {
    if (!hasOddParity(rawSecond)) return;
    const first = hasOddParity(rawFirst) ? rawFirst & 0x7f : UNREADABLE;
    const second = rawSecond & 0x7f;
    if (first >= 0x10 && first < 0x20) {
      if (second >= 0x20) control({ seconds, first, second });
      return;
    }
    repeatable = undefined;
    // Extended data of the programme, which the second field carries between captions.
    if (first > 0 && first < 0x10) isInData = first !== END_OF_DATA;
    if (first < 0x20 && first > 0) return;
    if (isInData) return;
    for (const code of [first, second]) if (code >= 0x20) channel?.write(seconds, toBasicCharacter(code));
  };
  return { channels, push };
}

const CHANNEL_BIT = 0x08;
const END_OF_DATA = 0x0f;
/** A solid block. */
const UNREADABLE = 0x7f;

function hasOddParity(byte: number): boolean {
  let bits = 0;
  for (let rest = byte; rest > 0; rest >>= 1) bits += rest & 1;
  return bits % 2 === 1;
}

/** The row of a preamble address code: bits 0–2 of the first byte, then bit 5 of the second one. */
const PREAMBLE_ROWS = [10, 10, 0, 1, 2, 3, 11, 12, 13, 14, 4, 5, 6, 7, 8, 9] as const;
const UNDERLINE_BIT = 0x01;
const INDENT_BIT = 0x10;
const STYLE = 0x0e;
/** Other values are colours. */
const ITALIC_STYLE = 0x0e;
const INDENT_COLUMNS = 4;

function runControl(channel: Line21Channel, { seconds, first, second }: BytePair): void {
  const isControl = first === 0x14 || first === 0x15;
  const isTab = first === 0x17 && second >= 0x21 && second <= 0x23;
  if (second >= 0x40) channel.place(seconds, readPreamble(first, second));
  else if (isControl && second < 0x30) channel.control(seconds, second);
  else if (isTab) channel.tab(second - 0x20);
  else if (first === 0x11 && second < 0x30) channel.changePen(seconds, readStyle(second));
  else if (first === 0x11) channel.write(seconds, toSpecialCharacter(second));
  else if (first === 0x12 || first === 0x13)
    channel.writeExtended(seconds, toExtendedCharacter(first, second));
}

const readStyle = (code: number): Pen => ({
  isItalic: (code & STYLE) === ITALIC_STYLE,
  isUnderlined: (code & UNDERLINE_BIT) !== 0,
});

function readPreamble(first: number, second: number) {
  const row = PREAMBLE_ROWS[((first & 0x07) << 1) | ((second >> 5) & 1)] ?? 0;
  const isIndented = (second & INDENT_BIT) !== 0;
  const pen = isIndented ? { ...PLAIN_PEN, isUnderlined: (second & UNDERLINE_BIT) !== 0 } : readStyle(second);
  return { row, indent: isIndented ? ((second & STYLE) >> 1) * INDENT_COLUMNS : 0, pen };
}
