// Decodes one service of digital captions (CTA-708-E, 7 and 8.10).
import { PLAIN_PEN } from './caption-screen.ts';
import { type CueRecorder, createCueRecorder } from './cue-recorder.ts';
import { toDtvccCharacter, toExtendedDtvccCharacter } from './dtvcc-characters.ts';
import {
  type CaptionWindow,
  defineWindow,
  returnCarriage,
  showWindows,
  type Windows,
  WINDOWS,
  writeCharacter,
} from './dtvcc-windows.ts';

type DtvccService = {
  /** Codes of the service from one packet. Incomplete ones at its end are ignored. */
  readonly push: (seconds: number, block: Uint8Array) => void;
  readonly finish: CueRecorder['finish'];
};

type ServiceState = { readonly windows: Windows; current: number };

export function createDtvccService(): DtvccService {
  const state: ServiceState = { windows: noWindows(), current: 0 };
  const recorder = createCueRecorder(() => showWindows(state.windows));
  return {
    push: (seconds, block) => {
      let position = 0;
      while (position < block.length) {
        const code = readCode(block, position);
        position = code.end;
        if (position > block.length) return;
        runCode(state, recorder, { ...code, seconds });
      }
    },
    finish: recorder.finish,
  };
}

const noWindows = (): Windows => Array.from({ length: WINDOWS }, () => undefined);

const EXTENSION = 0x10;

type Code = {
  readonly code: number;
  /** Of the sets C2, C3, G2 and G3. */
  readonly isExtended: boolean;
  readonly parameters: Uint8Array;
  /** Where the next code starts. */
  readonly end: number;
};

function readCode(block: Uint8Array, position: number): Code {
  const isExtended = block[position] === EXTENSION;
  const start = isExtended ? position + 1 : position;
  const code = block[start] ?? 0;
  const length = isExtended ? extendedLength(code, block[start + 1] ?? 0) : lengthOf(code);
  const end = start + 1 + length;
  return { code, isExtended, parameters: block.subarray(start + 1, end), end };
}

/** Lengths of the parameters of C1, from 0x80 on. */
const COMMAND_LENGTHS = [
  ...[0, 0, 0, 0, 0, 0, 0, 0],
  ...[1, 1, 1, 1, 1, 1, 0, 0],
  ...[2, 3, 2, 0, 0, 0, 0, 4],
  ...[6, 6, 6, 6, 6, 6, 6, 6],
];

function lengthOf(code: number): number {
  if (code >= 0x80 && code < 0xa0) return COMMAND_LENGTHS[code - 0x80] ?? 0;
  if (code >= 0x20) return 0;
  if (code >= 0x18) return 2;
  return code >= 0x11 ? 1 : 0;
}

/** The codes of C2 and C3 have no meaning yet, but lengths. */
function extendedLength(code: number, next: number): number {
  if (code < 0x20) return code >> 3;
  if (code < 0x80 || code >= 0xa0) return 0;
  if (code < 0x90) return code < 0x88 ? 4 : 5;
  return 1 + (next & 0x3f);
}

type TimedCode = Code & { readonly seconds: number };

function runCode(state: ServiceState, recorder: CueRecorder, timed: TimedCode): void {
  const character = findCharacter(timed);
  if (character !== undefined) write(state, recorder, { seconds: timed.seconds, character });
  else if (timed.isExtended) return;
  else if (timed.code < 0x20) moveCursor(state, recorder, timed);
  else runCommand(state, recorder, timed);
}

function findCharacter({ code, isExtended, parameters }: Code): string | undefined {
  if ((code >= 0x20 && code < 0x80) || code >= 0xa0)
    return isExtended ? toExtendedDtvccCharacter(code) : toDtvccCharacter(code);
  const [high = 0, low = 0] = parameters;
  return code === WIDE_CHARACTER && !isExtended ? String.fromCharCode((high << 8) | low) : undefined;
}

const WIDE_CHARACTER = 0x18;

const currentWindow = ({ windows, current }: ServiceState): CaptionWindow | undefined => windows[current];

function write(
  state: ServiceState,
  recorder: CueRecorder,
  { seconds, character }: { readonly seconds: number; readonly character: string },
): void {
  const window = currentWindow(state);
  if (!window) return;
  if (window.isVisible) recorder.touch(seconds);
  writeCharacter(window, character);
}

type CursorMove = (window: CaptionWindow) => void;

/** Codes of C0: backspace, form feed, carriage return, and deletion of the row. */
const CURSOR_MOVES: ReadonlyMap<number, CursorMove> = new Map<number, CursorMove>([
  [
    0x08,
    (window) => {
      window.column = Math.max(0, window.column - 1);
      window.screen.deleteFrom(window.row, window.column);
    },
  ],
  [
    0x0c,
    (window) => {
      window.screen.clear();
      Object.assign(window, { row: 0, column: 0 });
    },
  ],
  [0x0d, returnCarriage],
  [
    0x0e,
    (window) => {
      window.screen.deleteFrom(window.row, 0);
      window.column = 0;
    },
  ],
]);

function moveCursor(state: ServiceState, recorder: CueRecorder, { code, seconds }: TimedCode): void {
  const move = CURSOR_MOVES.get(code);
  const window = currentWindow(state);
  if (!window || !move) return;
  if (window.isVisible) recorder.change(seconds, () => move(window));
  else move(window);
}

type WindowCommand = (windows: Windows, index: number) => void;

/** Commands with a bitmap of windows, which exist. */
const WINDOW_COMMANDS: ReadonlyMap<number, WindowCommand> = new Map<number, WindowCommand>([
  [0x88, (windows, index) => windows[index]?.screen.clear()],
  [0x89, (windows, index) => setVisible(windows[index], () => true)],
  [0x8a, (windows, index) => setVisible(windows[index], () => false)],
  [0x8b, (windows, index) => setVisible(windows[index], (isVisible) => !isVisible)],
  [
    0x8c,
    (windows, index) => {
      windows[index] = undefined;
    },
  ],
]);

function setVisible(window: CaptionWindow | undefined, toVisible: (isVisible: boolean) => boolean): void {
  if (window) window.isVisible = toVisible(window.isVisible);
}

const RESET = 0x8f;
const SET_PEN = 0x90;
const SET_PEN_LOCATION = 0x92;
const DEFINE_WINDOW = 0x98;

function runCommand(state: ServiceState, recorder: CueRecorder, timed: TimedCode): void {
  const { code, parameters, seconds } = timed;
  const { windows } = state;
  const [bitmap = 0] = parameters;
  const command = WINDOW_COMMANDS.get(code);
  if (code < 0x88) state.current = code & 0x07;
  else if (command)
    recorder.change(seconds, () => {
      for (let index = 0; index < WINDOWS; index += 1) if ((bitmap >> index) & 1) command(windows, index);
    });
  else if (code === RESET) recorder.change(seconds, () => windows.fill(undefined));
  else if (code >= DEFINE_WINDOW) {
    state.current = code & 0x07;
    recorder.change(seconds, () => {
      windows[state.current] = defineWindow(windows[state.current], parameters);
    });
  } else if (code === SET_PEN || code === SET_PEN_LOCATION) changePen(state, recorder, timed);
}

function changePen(state: ServiceState, recorder: CueRecorder, timed: TimedCode): void {
  const window = currentWindow(state);
  if (!window) return;
  const [first = 0, second = 0] = timed.parameters;
  if (timed.code === SET_PEN) {
    window.pen = { ...PLAIN_PEN, isItalic: (second & 0x80) !== 0, isUnderlined: (second & 0x40) !== 0 };
    return;
  }
  const row = first & 0x0f;
  // Rows that are written one after another are shown one after another.
  if (window.isVisible && row !== window.row) recorder.change(timed.seconds, () => {});
  Object.assign(window, { row, column: second & 0x3f });
}
