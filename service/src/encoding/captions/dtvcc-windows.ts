// The eight windows of a service of digital captions, and what they show (CTA-708-E, 8.4).
import { type CaptionScreen, createScreen, type Pen, PLAIN_PEN } from './caption-screen.ts';
import type { ShownText } from './cue-recorder.ts';

export type CaptionWindow = {
  screen: CaptionScreen;
  isVisible: boolean;
  /** Of its upper edge, in percent of the height of the picture. */
  top: number;
  row: number;
  column: number;
  pen: Pen;
};

/** By number, 0–7. */
export type Windows = (CaptionWindow | undefined)[];

export const WINDOWS = 8;
const MAX_COLUMNS = 42;
/** Lines of the grid on which windows are placed. */
const GRID_LINES = 75;
/** Height of a row in percent: fifteen rows fill the safe area. */
const ROW_HEIGHT = 80 / 15;
const SAFE_AREA = { top: 10, bottom: 90 };
const MIDDLE = 50;

/** The six bytes of a definition. A window that exists keeps its text. */
export function defineWindow(existing: CaptionWindow | undefined, bytes: Uint8Array): CaptionWindow {
  const [flags = 0, vertical = 0, , anchorAndRows = 0, width = 0] = bytes;
  const rows = (anchorAndRows & 0x0f) + 1;
  const columns = Math.min(MAX_COLUMNS, (width & 0x3f) + 1);
  const isSame = existing?.screen.rows === rows && existing.screen.columns === columns;
  return {
    ...(existing && isSame
      ? existing
      : { screen: createScreen(rows, columns), row: 0, column: 0, pen: PLAIN_PEN }),
    isVisible: (flags & 0x20) !== 0,
    top: topOf({ vertical, anchor: anchorAndRows >> 4, rows }),
  };
}

type Anchor = { readonly vertical: number; readonly anchor: number; readonly rows: number };

/** Anchors 0–2 are at the top of the window, 3–5 in its middle, 6–8 at its bottom. */
function topOf({ vertical, anchor, rows }: Anchor): number {
  const isRelative = (vertical & 0x80) !== 0;
  const share = (vertical & 0x7f) / (isRelative ? 100 : GRID_LINES);
  const position = SAFE_AREA.top + Math.min(1, share) * (SAFE_AREA.bottom - SAFE_AREA.top);
  return position - (Math.min(2, Math.floor(anchor / 3)) / 2) * rows * ROW_HEIGHT;
}

/** Writes at the cursor, and moves it. */
export function writeCharacter(window: CaptionWindow, character: string): void {
  const { screen, row, column, pen } = window;
  screen.write(row, Math.min(column, screen.columns - 1), { character, ...pen });
  window.column = Math.min(screen.columns, column + 1);
}

/** Moves to the next row; at the last one, all rows move up. */
export function returnCarriage(window: CaptionWindow): void {
  const { screen, row } = window;
  const last = screen.rows - 1;
  if (row >= last) screen.scroll(0, last);
  window.row = Math.min(last, row + 1);
  window.column = 0;
}

/** Captions in the upper half of the picture stay there. */
export function showWindows(windows: Windows): ShownText | undefined {
  const shown = windows
    .filter((window): window is CaptionWindow => window?.isVisible === true && !window.screen.isEmpty())
    .toSorted((a, b) => a.top - b.top);
  const [first] = shown;
  if (!first) return undefined;
  const text = shown.flatMap(({ screen }) => screen.filledRows().map((row) => row.text)).join('\n');
  const bottom = Math.max(...shown.map(({ top, screen }) => top + screen.rows * ROW_HEIGHT));
  return bottom > MIDDLE ? { text } : { text, line: Math.max(0, Math.round(first.top)) };
}
