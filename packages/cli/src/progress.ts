// Progress on stderr: a bar on a terminal, else a line for each step.
import cliProgress from 'cli-progress';
import type { Output } from './output.ts';
import { formatBytes, toPlain } from './text.ts';

export type Progress = {
  /** A phase without a known end. */
  phase(text: string): void;
  bytes(phase: string, sent: number, total: number): void;
  percent(phase: string, percent: number): void;
  /** Removes the bar. */
  stop(): void;
};

export function createProgress(output: Output, name: string): Progress {
  const title = toPlain(name);
  return output.isInteractive ? createBarProgress(output, title) : createLines(output, title);
}

type TotalProgress = {
  /** Of one file, as a part of the whole. */
  readonly start: (size: number) => Progress;
  /** Prints above the bar. */
  readonly output: Output;
  /** Removes the bar. */
  readonly stop: () => void;
};

/** Of several files, which may be sent at the same time: one bar on a terminal, else nothing but results. */
export function createTotalProgress(output: Output, sizes: readonly number[]): TotalProgress {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const state = { sent: 0, finished: 0 };
  output.note(`Uploading ${sizes.length} files, ${formatBytes(total)}`);
  const bar = output.isInteractive ? createBar(output, '') : undefined;
  const show = (): void =>
    bar?.show({
      name: `${state.finished} of ${sizes.length} files`,
      percent: total === 0 ? 100 : (state.sent / total) * 100,
      text: `${formatBytes(state.sent)} of ${formatBytes(total)}`,
    });
  show();
  return {
    start: (size) => trackFile(size, state, show),
    output: bar ? printAbove(output, bar) : output,
    stop: () => bar?.hide(),
  };
}

function trackFile(size: number, state: { sent: number; finished: number }, show: () => void): Progress {
  let [sent, isStopped] = [0, false];
  const setSent = (bytes: number): void => {
    state.sent += bytes - sent;
    sent = bytes;
    show();
  };
  return {
    phase: () => {},
    bytes: (_phase, bytes) => setSent(bytes),
    percent: () => {},
    stop: () => {
      if (!isStopped) state.finished += 1;
      isStopped = true;
      setSent(size);
    },
  };
}

/** Text between two drawings of a bar would be overwritten. */
function printAbove(output: Output, bar: Bar): Output {
  const above =
    <Args extends readonly unknown[]>(print: (...args: Args) => void) =>
    (...args: Args): void => {
      bar.hide();
      print(...args);
      bar.redraw();
    };
  return {
    ...output,
    item: above(output.item),
    note: above(output.note),
    warn: above(output.warn),
    error: above(output.error),
  };
}

const NAME_COLUMNS = 28;

type Drawing = { readonly name: string; readonly percent: number; readonly text: string };
type Bar = {
  readonly show: (drawing: Partial<Drawing>) => void;
  readonly hide: () => void;
  readonly redraw: () => void;
};

function createBar(output: Output, name: string): Bar {
  const bar = new cliProgress.SingleBar({
    stream: output.stderr,
    format: '{name} [{bar}] {percentage}% {text}',
    barsize: 28,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: true,
    // The process handles Ctrl-C itself.
    gracefulExit: false,
  });
  let last: Drawing = { name, percent: 0, text: '' };
  const redraw = (): void => bar.start(100, last.percent, { name: shorten(last.name), text: last.text });
  redraw();
  return {
    show: (drawing) => {
      last = { ...last, ...drawing };
      bar.update(last.percent, { name: shorten(last.name), text: last.text });
    },
    hide: () => bar.stop(),
    redraw,
  };
}

const shorten = (name: string): string =>
  name.length > NAME_COLUMNS ? `${name.slice(0, NAME_COLUMNS - 1)}…` : name;

function createBarProgress(output: Output, name: string): Progress {
  const bar = createBar(output, name);
  const rate = createRate();
  return {
    phase: (text) => bar.show({ text }),
    bytes: (phase, sent, total) =>
      bar.show({
        percent: total === 0 ? 100 : (sent / total) * 100,
        text: `${phase} ${formatBytes(sent)} of ${formatBytes(total)}${rate(sent)}`,
      }),
    percent: (phase, percent) => bar.show({ percent, text: phase }),
    stop: bar.hide,
  };
}

/** Bytes per second since the first call. */
function createRate(): (sent: number) => string {
  let first: { readonly at: number; readonly sent: number } | undefined;
  return (sent) => {
    const now = performance.now();
    first ??= { at: now, sent };
    const seconds = (now - first.at) / 1000;
    return seconds < 0.5 ? '' : `, ${formatBytes((sent - first.sent) / seconds)}/s`;
  };
}

const STEP_PERCENT = 10;
const LINE_INTERVAL_MS = 2000;

/** A line when a phase begins, and then for each tenth of it, but not more often than every two seconds. */
function createLines({ note }: Output, name: string): Progress {
  let last = { phase: '', step: 0, at: 0 };
  const print = (phase: string, percent: number, text: string): void => {
    const now = performance.now();
    const step = Math.floor(percent / STEP_PERCENT);
    if (phase === last.phase && (step <= last.step || now - last.at < LINE_INTERVAL_MS)) return;
    last = { phase, step, at: now };
    note(`${name}: ${text}`);
  };
  return {
    phase: (text) => print(text, 0, text),
    bytes: (phase, sent, total) => {
      const percent = total === 0 ? 100 : Math.floor((sent / total) * 100);
      print(phase, percent, `${phase} ${percent}% of ${formatBytes(total)}`);
    },
    percent: (phase, percent) => print(phase, percent, `${phase} ${percent}%`),
    stop: () => {},
  };
}
