// Parses WebVTT and SubRip files, and formats them as WebVTT that contains nothing but cues.
import { MAX_CAPTION_BYTES } from '@mediary/contract/operations/captions';
import { badRequest, type ServiceError } from '../platform/http/errors.ts';
import { sanitizeCueText } from './cue-text.ts';

/** `text` is WebVTT. */
export type CaptionFile = { readonly text: string; readonly endMs: number };

type Cue = {
  readonly startMs: number;
  readonly endMs: number;
  readonly settings: string;
  readonly text: string;
};

/** HLS players relate cues to the first frame by this line (RFC 8216, 3.5). Others ignore it. */
const HEAD = 'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n';
const SIGNATURE = /^WEBVTT(?:[ \t].*)?$/;
const ARROW = '-->';
const MAX_CUES = 20_000;
const MAX_CUE_LENGTH = 10_000;
const MAX_TIME_MS = 1000 * 3_600_000;

const VTT_TIME = String.raw`(?:(\d{2,}):)?([0-5]\d):([0-5]\d)\.(\d{3})`;
const SRT_TIME = String.raw`(\d{1,4}):([0-5]?\d):([0-5]?\d)[,.](\d{1,3})`;
/** One blank before the settings: several, with a rest that `.` does not match, would take quadratic time. */
const timing = (time: string) =>
  RegExp(`^[ \\t\\f]*${time}[ \\t\\f]*-->[ \\t\\f]*${time}(?:[ \\t\\f]([^]*))?$`);
const VTT_TIMING = timing(VTT_TIME);
const SRT_TIMING = timing(SRT_TIME);

/** Throws BAD_REQUEST `invalid_captions` with the line. `mustBeVtt`: the Content-Type excludes SubRip. */
export function parseCaptionFile(
  bytes: Uint8Array,
  { mustBeVtt = false, maxBytes = MAX_CAPTION_BYTES } = {},
): CaptionFile {
  if (bytes.length > maxBytes) throw invalid(1, `the file has more than ${maxBytes} bytes`);
  const lines = decode(bytes).split(/\r\n|\r|\n/);
  const isVtt = SIGNATURE.test(lines[0] ?? '');
  if (mustBeVtt && !isVtt) throw invalid(1, 'the first line of a WebVTT file is "WEBVTT"');
  const cues = readCues(lines, isVtt);
  if (cues.length === 0) throw invalid(lines.length, 'the file ends without a cue');
  return {
    text: [HEAD, ...cues.map(formatCue)].join('\n'),
    endMs: cues.reduce((latest, { endMs }) => Math.max(latest, endMs), 0),
  };
}

type CueTimes = { readonly startMs: number; readonly endMs: number };

/**
 * The cues of a WebVTT file that are shown in a part of its video, with times from the start of the part.
 * Undefined if there are none. Throws BAD_REQUEST as `parseCaptionFile` does.
 */
export function cutCaptionFile(bytes: Uint8Array, { startMs, endMs }: CueTimes): string | undefined {
  const cues = readCues(decode(bytes).split(/\r\n|\r|\n/), true)
    .filter((cue) => cue.endMs > startMs && cue.startMs < endMs)
    .map((cue) => ({
      ...cue,
      startMs: Math.max(cue.startMs, startMs) - startMs,
      endMs: Math.min(cue.endMs, endMs) - startMs,
    }));
  return cues.length === 0 ? undefined : [HEAD, ...cues.map(formatCue)].join('\n');
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\0', '\uFFFD');
  } catch (cause) {
    const error = badRequest('The file is not UTF-8', { reason: 'invalid_captions', field: 'body' });
    throw Object.assign(error, { cause });
  }
}

const invalid = (line: number, problem: string): ServiceError =>
  badRequest(`Line ${line}: ${problem}`, { reason: 'invalid_captions', field: 'body', line });

/** A line with an arrow starts a cue. All that is outside of cues is dropped: styles, regions, comments. */
function readCues(lines: readonly string[], isVtt: boolean): Cue[] {
  const starts = lines.flatMap((line, index) => (line.includes(ARROW) ? [index] : []));
  if (starts.length > MAX_CUES)
    throw invalid((starts[MAX_CUES] ?? 0) + 1, `the file has more than ${MAX_CUES} cues`);
  if (!isVtt) assertSubRip(lines, starts[0] ?? lines.length);
  return starts.map((start, index) => {
    const next = starts[index + 1];
    const body = lines.slice(start + 1, next);
    const toBody = isVtt ? vttBody : srtBody;
    return readCue(lines[start] ?? '', { line: start + 1, isVtt, body: toBody(body, next !== undefined) });
  });
}

/** Nothing but the number of the first cue stands before it. */
function assertSubRip(lines: readonly string[], firstCue: number): void {
  const strange = lines.slice(0, firstCue).findIndex((line) => !/^\d*$/.test(line.trim()));
  if (strange >= 0) throw invalid(strange + 1, 'the file is neither WebVTT nor SubRip');
}

function vttBody(lines: readonly string[]): readonly string[] {
  const blank = lines.indexOf('');
  return blank < 0 ? lines : lines.slice(0, blank);
}

/** Blank lines within a cue are common in SubRip. The last line may be the number of the next cue. */
function srtBody(lines: readonly string[], hasNext: boolean): readonly string[] {
  const isNumbered = hasNext && /^\d+$/.test((lines.at(-1) ?? '').trim());
  return isNumbered ? lines.slice(0, -1) : lines;
}

type CueSource = { readonly line: number; readonly isVtt: boolean; readonly body: readonly string[] };

function readCue(head: string, { line, isVtt, body }: CueSource): Cue {
  const [match, ...rest] = (isVtt ? VTT_TIMING : SRT_TIMING).exec(head) ?? [];
  if (match === undefined)
    throw invalid(line, `"${head.trim().slice(0, 80).toWellFormed()}" has no valid times`);
  const startMs = toMs(rest.slice(0, 4));
  const endMs = toMs(rest.slice(4, 8));
  if (Math.max(startMs, endMs) >= MAX_TIME_MS) throw invalid(line, 'the time is after 999:59:59.999');
  if (endMs < startMs) throw invalid(line, 'the cue ends before it starts');
  const text = body.join('\n').replace(CONTROL, '');
  if (text.length > MAX_CUE_LENGTH) throw invalid(line, `the cue has more than ${MAX_CUE_LENGTH} characters`);
  return { startMs, endMs, settings: isVtt ? toSettings(rest[8] ?? '') : '', text: sanitizeCueText(text) };
}

const CONTROL = /(?![\t\n])\p{Cc}/gu;

const toMs = ([hours = '0', minutes, seconds, fraction = '']: readonly (string | undefined)[]): number =>
  ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(fraction.padEnd(3, '0'));

const PERCENT = String.raw`(?:100(?:\.0{1,9})?|\d{1,2}(?:\.\d{1,9})?)%`;
/** Setting → its valid values. Regions are dropped, so cues cannot name them. */
const SETTINGS: ReadonlyMap<string, RegExp> = new Map([
  ['vertical', /^(?:rl|lr)$/],
  ['line', RegExp(`^(?:-?\\d{1,4}|${PERCENT})(?:,(?:start|center|end))?$`)],
  ['position', RegExp(`^${PERCENT}(?:,(?:line-left|center|line-right))?$`)],
  ['size', RegExp(`^${PERCENT}$`)],
  ['align', /^(?:start|center|end|left|right)$/],
]);

/** The last value of each setting; invalid ones are dropped, as players do. */
function toSettings(text: string): string {
  const valid = text.split(/[ \t\f]+/).flatMap((setting) => {
    const [name = '', value = ''] = setting.split(/:(.*)/, 2);
    return SETTINGS.get(name)?.test(value) ? [[name, value] as const] : [];
  });
  return [...new Map(valid)].map(([name, value]) => ` ${name}:${value}`).join('');
}

/** A blank line would end the cue. */
const formatCue = ({ startMs, endMs, settings, text }: Cue): string =>
  [
    `${formatTime(startMs)} ${ARROW} ${formatTime(endMs)}${settings}`,
    ...text.split('\n').filter((line) => line.trim() !== ''),
    '',
  ].join('\n');

/** `hh:mm:ss.ttt` */
export function formatTime(ms: number): string {
  const [hours, minutes, seconds] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map((value) =>
    String(Math.floor(value)).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${seconds}.${String(ms % 1000).padStart(3, '0')}`;
}
