// Renders log lines for people: time, level, message, facts, and the stack of errors at level error.

type LogError = {
  readonly message?: string;
  readonly stack?: string;
  readonly code?: string;
  readonly cause?: LogError | string;
};

const COLOURS: Readonly<Record<string, string>> = {
  debug: '2',
  info: '32',
  warn: '33',
  error: '31',
  fatal: '31',
};
const DIM = '2';
const STACK_LEVELS = ['error', 'fatal'];
const LEVEL_WIDTH = 5;

type PrettyOptions = { readonly hasColours: boolean };

/** `line`: a line of the JSON log. Any other text is returned unchanged. */
export function renderLogLine(line: string, { hasColours }: PrettyOptions): string {
  const parsed = parseLine(line);
  if (parsed === undefined) return line;
  const { time, level, msg, err, ...facts } = parsed;
  const paint = (code: string | undefined, text: string) =>
    hasColours && code !== undefined ? `\u001b[${code}m${text}\u001b[0m` : text;
  const name = String(level);
  const details = Object.entries(facts).map(([key, value]) => `${key}=${renderFact(value)}`);
  return [
    paint(DIM, renderTime(time)),
    paint(COLOURS[name], name.toUpperCase().padEnd(LEVEL_WIDTH)),
    escapeControls(String(msg ?? '')),
    ...(details.length > 0 ? [paint(DIM, details.join(' '))] : []),
    ...renderError(err as LogError | undefined, STACK_LEVELS.includes(name)),
  ]
    .join(' ')
    .concat('\n');
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined; // Not a line of the log.
  }
}

/** Local time of day. */
const renderTime = (time: unknown): string =>
  new Date(time as string).toLocaleTimeString('en-GB', { hour12: false });

const renderFact = (value: unknown): string =>
  typeof value === 'string' && /^[\w.:/@-]+$/.test(value) ? value : JSON.stringify(value);

/** A message may contain text of a file, which must not control the terminal. */
const escapeControls = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === '\n' ? '\n  ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function renderError(error: LogError | undefined, hasStack: boolean): string[] {
  if (!error) return [];
  if (hasStack && error.stack) return [`\n  ${escapeControls(error.stack)}`];
  return [`\n  ${escapeControls(describeCauses(error))}`];
}

/** "outer (E1): inner" */
function describeCauses({ message = '', code, cause }: LogError): string {
  const own = code === undefined ? message : `${message} (${code})`;
  if (cause === undefined) return own;
  return `${own}: ${typeof cause === 'string' ? cause : describeCauses(cause)}`;
}
