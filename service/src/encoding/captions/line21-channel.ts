// One channel of line 21 captions, such as CC1: its screens, and what each code changes (CTA-608-E, annex B).
import { type CaptionScreen, createScreen, type Pen, PLAIN_PEN } from './caption-screen.ts';
import { type CueRecorder, createCueRecorder, type ShownText } from './cue-recorder.ts';

const ROWS = 15;
const COLUMNS = 32;
const LAST_ROW = ROWS - 1;

/** `off`: no caption has begun yet, or the channel carries text that is no caption. */
type Mode = 'off' | 'pop-on' | 'roll-up' | 'paint-on';

type Placement = { readonly row: number; readonly indent: number; readonly pen: Pen };

export type Line21Channel = {
  /** Characters of the basic set, or of the special one. */
  readonly write: (seconds: number, character: string) => void;
  /** Replaces the character before the cursor, which decoders without this one show. */
  readonly writeExtended: (seconds: number, character: string) => void;
  readonly changePen: (seconds: number, pen: Pen) => void;
  /** A preamble address code. */
  readonly place: (seconds: number, placement: Placement) => void;
  readonly tab: (columns: number) => void;
  /** The second byte of a miscellaneous control code. */
  readonly control: (seconds: number, code: number) => void;
  readonly finish: CueRecorder['finish'];
};

type ChannelState = {
  mode: Mode;
  shown: CaptionScreen;
  hidden: CaptionScreen;
  row: number;
  column: number;
  /** Height of roll-up captions. */
  height: number;
  pen: Pen;
};

export function createLine21Channel(): Line21Channel {
  const state: ChannelState = {
    mode: 'off',
    shown: createScreen(ROWS, COLUMNS),
    hidden: createScreen(ROWS, COLUMNS),
    row: LAST_ROW,
    column: 0,
    height: 2,
    pen: PLAIN_PEN,
  };
  const recorder = createCueRecorder(() => showScreen(state.shown));
  const write = (seconds: number, character: string): void => {
    if (state.mode === 'off') return;
    if (state.mode !== 'pop-on') recorder.touch(seconds);
    // A full row takes further characters in its last column.
    const column = Math.min(state.column, COLUMNS - 1);
    screenOf(state).write(state.row, column, { character, ...state.pen });
    state.column = column + 1;
  };
  return {
    write,
    writeExtended: (seconds, character) => {
      state.column = Math.max(0, state.column - 1);
      write(seconds, character);
    },
    changePen: (seconds, pen) => {
      write(seconds, ' ');
      state.pen = pen;
    },
    place: (seconds, placement) => place(state, recorder, { seconds, ...placement }),
    tab: (columns) => {
      state.column = Math.min(COLUMNS - 1, state.column + columns);
    },
    control: (seconds, code) => CONTROLS.get(code)?.(state, (apply) => recorder.change(seconds, apply)),
    finish: recorder.finish,
  };
}

const screenOf = ({ mode, shown, hidden }: ChannelState): CaptionScreen =>
  mode === 'pop-on' ? hidden : shown;

function place(
  state: ChannelState,
  recorder: CueRecorder,
  { seconds, row, indent, pen }: Placement & { readonly seconds: number },
): void {
  if (state.mode === 'off') return;
  if (row !== state.row && state.mode === 'roll-up') {
    const { shown, row: base, height } = state;
    recorder.change(seconds, () => shown.keepRows(base - height + 1, base, row - base));
  }
  // Rows that are painted one after another are shown one after another.
  if (row !== state.row && state.mode === 'paint-on') recorder.change(seconds, () => {});
  Object.assign(state, { row, column: indent, pen });
}

/** `change` runs a change of the shown screen. */
type Control = (state: ChannelState, change: (apply: () => void) => void) => void;

const rollUp =
  (height: number): Control =>
  (state, change) => {
    change(() => {
      if (state.mode === 'roll-up') state.shown.keepRows(state.row - height + 1, state.row);
      else state.shown.clear();
    });
    if (state.mode !== 'roll-up') {
      state.hidden.clear();
      Object.assign(state, { row: LAST_ROW, column: 0, pen: PLAIN_PEN });
    }
    Object.assign(state, { mode: 'roll-up', height });
  };

const turnOff: Control = (state) => {
  state.mode = 'off';
};

/** By the second byte of the code. */
const CONTROLS: ReadonlyMap<number, Control> = new Map<number, Control>([
  // Resume caption loading.
  [
    0x20,
    (state) => {
      state.mode = 'pop-on';
    },
  ],
  // Backspace.
  [
    0x21,
    (state) => {
      if (state.mode === 'off') return;
      state.column = Math.max(0, state.column - 1);
      screenOf(state).deleteFrom(state.row, state.column);
    },
  ],
  // Delete to the end of the row.
  [
    0x24,
    (state) => {
      if (state.mode !== 'off') screenOf(state).deleteFrom(state.row, state.column);
    },
  ],
  [0x25, rollUp(2)],
  [0x26, rollUp(3)],
  [0x27, rollUp(4)],
  // Resume direct captioning.
  [
    0x29,
    (state, change) => {
      change(() => {});
      state.mode = 'paint-on';
    },
  ],
  // Text restart, and resume text display: both are for text that is no caption.
  [0x2a, turnOff],
  [0x2b, turnOff],
  // Erase displayed memory.
  [0x2c, (state, change) => change(() => state.shown.clear())],
  // Carriage return.
  [
    0x2d,
    (state, change) => {
      if (state.mode !== 'roll-up') return;
      change(() => state.shown.scroll(Math.max(0, state.row - state.height + 1), state.row));
      state.column = 0;
    },
  ],
  // Erase the memory that is not displayed.
  [0x2e, (state) => state.hidden.clear()],
  // End of caption: the screens change places.
  [
    0x2f,
    (state, change) => {
      change(() => Object.assign(state, { shown: state.hidden, hidden: state.shown }));
      state.mode = 'pop-on';
    },
  ],
]);

/** The rows cover the middle 80 % of the picture. Captions in its upper half stay there. */
const UPPER_ROWS = 7;
const SAFE_AREA = { top: 10, height: 80 };

function showScreen(screen: CaptionScreen): ShownText | undefined {
  const filled = screen.filledRows();
  const [first] = filled;
  if (!first) return undefined;
  const text = filled.map((row) => row.text).join('\n');
  if ((filled.at(-1)?.row ?? 0) >= UPPER_ROWS) return { text };
  return { text, line: Math.round(SAFE_AREA.top + (first.row * SAFE_AREA.height) / ROWS) };
}
