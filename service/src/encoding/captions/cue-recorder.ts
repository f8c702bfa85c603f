// Records what a caption decoder shows as the cues of a WebVTT file.
import { formatTime } from '../../captions/caption-file.ts';

/** `line` in percent of the height of the picture; undefined: where players show captions. */
export type ShownText = { readonly text: string; readonly line?: number | undefined };

type Cue = ShownText & { readonly start: number; readonly end: number };

export type CueRecorder = {
  /** The text has begun to change; a cue starts if none runs. */
  readonly touch: (seconds: number) => void;
  /**
   * Ends the running cue with the shown text, makes a change, and starts a cue with what is shown then.
   */
  readonly change: (seconds: number, apply: () => void) => void;
  /** Ends the running cue, and returns the file; undefined without text. */
  readonly finish: (seconds: number, durationSeconds: number | null) => string | undefined;
};

/** One more than a file of captions may have, so that a longer one is refused instead of cut. */
const MAX_CUES = 20_001;
const MAX_TEXT = 2 * 1024 ** 2;
/** Thirty in a second for nine hours: each takes time, and a hostile file has millions. */
const MAX_CHANGES = 1_000_000;
/** How long a decoder shows captions without any further data (47 CFR 15.119). */
const MAX_LAST_SECONDS = 16;

/** `show`: what is on the screen; undefined: nothing. */
export function createCueRecorder(show: () => ShownText | undefined): CueRecorder {
  const cues: Cue[] = [];
  let start: number | undefined;
  let [length, changes] = [0, 0];
  const record = (end: number): void => {
    if (start === undefined || end <= start) return;
    const shown = show();
    if (!shown || cues.length >= MAX_CUES || length > MAX_TEXT) return;
    const last = cues.at(-1);
    if (last && last.end === start && last.text === shown.text && last.line === shown.line)
      cues[cues.length - 1] = { ...last, end };
    else {
      cues.push({ ...shown, start, end });
      length += shown.text.length;
    }
  };
  return {
    touch: (seconds) => {
      start ??= seconds;
    },
    change: (seconds, apply) => {
      changes += 1;
      if (changes > MAX_CHANGES) return;
      record(seconds);
      // Text that was shown for no time goes on with the start of its cue.
      const isOver = start === undefined || seconds > start;
      apply();
      if (!show()) start = undefined;
      else if (isOver) start = seconds;
    },
    finish: (seconds, durationSeconds) => {
      if (start !== undefined)
        record(Math.max(seconds, Math.min(durationSeconds ?? Infinity, start + MAX_LAST_SECONDS)));
      start = undefined;
      return formatCues(cues);
    },
  };
}

function formatCues(cues: readonly Cue[]): string | undefined {
  const shown = cues.flatMap(({ start, end, text, line }) => {
    const [startMs, endMs] = [toMs(start), toMs(end)];
    const setting = line === undefined ? '' : ` line:${line}%`;
    return endMs > startMs ? [`${formatTime(startMs)} --> ${formatTime(endMs)}${setting}\n${text}\n`] : [];
  });
  return shown.length === 0 ? undefined : ['WEBVTT\n', ...shown].join('\n');
}

/** What is shown before the first frame of the renditions is shown with it. */
const toMs = (seconds: number): number => Math.max(0, Math.round(seconds * 1000));
