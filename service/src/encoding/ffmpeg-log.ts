// Extracts loggable error lines from the stderr of ffmpeg: bounded, and without metadata of the file.

const MAX_EXCERPT = 2000;
const MAX_LINE = 200;
/** A log of this size may be truncated, so its first line may be a part of a tag. */
const MAX_WHOLE_LOG = 64 * 1024;

/** ffmpeg indents everything that it copies from a file: tags, chapters, stream descriptions. */
const IS_INDENTED = /^\s/;
/** Frame properties, not errors. */
const IS_FILTER_OUTPUT = /^\[Parsed_/;
const ERROR_WORDS = [
  'errors?|invalid|failed|failure|missing|not found|not supported|not implemented|unsupported|unknown|unable',
  'cannot|could not|no such|no space|not enough|out of memory|exceeds?|corrupt\\w*|truncated|mismatch',
  'overread|underread|moov',
];
const IS_ERROR = new RegExp(`\\b(?:${ERROR_WORDS.join('|')})\\b`, 'i');
const NAMES_A_SECRET = /passw|secret|token|credential|authori[sz]ation|api.?key|cookie/i;

/** At most 2000 ASCII characters: each kind of error once with its count, the last kinds if many. */
export function excerptFfmpegLog(log: string): string {
  const kinds = new Map<string, { readonly line: string; count: number }>();
  for (const line of wholeLines(log).filter(isLoggable).map(redact)) {
    const kind = line.replace(/\d+/g, '0');
    const known = kinds.get(kind);
    if (known) known.count += 1;
    else kinds.set(kind, { line, count: 1 });
  }
  return lastThatFit(
    [...kinds.values()].map(({ line, count }) => (count > 1 ? `${line} (${count} times)` : line)),
  );
}

function wholeLines(log: string): string[] {
  const lines = log.split('\n');
  return log.length < MAX_WHOLE_LOG ? lines : lines.slice(1);
}

const isLoggable = (line: string): boolean =>
  !IS_INDENTED.test(line) &&
  !IS_FILTER_OUTPUT.test(line) &&
  IS_ERROR.test(line) &&
  !NAMES_A_SECRET.test(line);

/** Redacts content that a file can inject into error lines, and local paths. */
const REDACTIONS: readonly (readonly [found: RegExp, shown: string])[] = [
  [/ @ 0x[0-9a-f]+/gi, ''],
  [/'[^']*'|"[^"]*"/g, '<text>'],
  [/\b[a-z][a-z0-9+.-]*:\/\/\S*/gi, '<url>'],
  [/[\w.+-]{1,64}@[\w-]+\.[\w.-]+/g, '<address>'],
  [/[+-]?\d{1,3}\.\d{3,}[,;/ +-]+\d{1,3}\.\d{3,}\S*/g, '<location>'],
  [/(?<![\w)])(?:file:)?\/[^\s:]+/g, '<path>'],
  [/[A-Za-z0-9+=_-]{24,}/g, '<key>'],
  [/[^\x20-\x7e]|["\\]/g, '?'],
];

const redact = (line: string): string =>
  REDACTIONS.reduce((text, [found, shown]) => text.replace(found, shown), line.slice(0, 4 * MAX_LINE)).slice(
    0,
    MAX_LINE,
  );

function lastThatFit(lines: readonly string[]): string {
  let excerpt = '';
  for (const line of lines.toReversed()) {
    const longer = excerpt === '' ? line : `${line}\n${excerpt}`;
    if (longer.length > MAX_EXCERPT) break;
    excerpt = longer;
  }
  return excerpt;
}
