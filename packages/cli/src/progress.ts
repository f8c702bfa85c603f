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
  return output.isInteractive ? createBar(output, title) : createLines(output, title);
}

const NAME_COLUMNS = 28;

function createBar(output: Output, name: string): Progress {
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
  const rate = createRate();
  const short = name.length > NAME_COLUMNS ? `${name.slice(0, NAME_COLUMNS - 1)}…` : name;
  bar.start(100, 0, { name: short, text: '' });
  return {
    phase: (text) => bar.update({ text }),
    bytes: (phase, sent, total) =>
      bar.update(total === 0 ? 100 : (sent / total) * 100, {
        text: `${phase} ${formatBytes(sent)} of ${formatBytes(total)}${rate(sent)}`,
      }),
    percent: (phase, percent) => bar.update(percent, { text: phase }),
    stop: () => bar.stop(),
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
