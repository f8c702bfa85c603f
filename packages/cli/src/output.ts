// What the command prints: results on stdout, everything for people on stderr.
import { styleText } from 'node:util';

export type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export type Output = {
  readonly isJson: boolean;
  /** Whether progress bars can be drawn. */
  readonly isInteractive: boolean;
  readonly stderr: Stream;
  /** The one result of a command: a JSON document, or text. */
  result(value: unknown, render: () => string): void;
  /** One item of a stream: a JSON line, or a line of text. */
  item(value: unknown, render: () => string): void;
  /** For people, on stderr; `--quiet` hides it. */
  note(text: string): void;
  /** On stderr, also with `--quiet`. */
  warn(text: string): void;
  /** On stderr, also with `--quiet`; with `--json` a JSON document. */
  error(text: string): void;
  style(style: Style, text: string): string;
};

type OutputOptions = {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly hasColor: boolean;
};

export function createOutput({ stdout, stderr, isJson, isQuiet, hasColor }: OutputOptions): Output {
  const print = (text: string): void => {
    stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  };
  const style = (name: Style, text: string): string =>
    hasColor ? styleText(name, text, { validateStream: false }) : text;
  return {
    isJson,
    isInteractive: stderr.isTTY === true && !isQuiet,
    stderr,
    style,
    result: (value, render) => print(isJson ? JSON.stringify(value, null, 2) : render()),
    item: (value, render) => print(isJson ? JSON.stringify(value) : render()),
    note: (text) => {
      if (!isQuiet) stderr.write(`${text}\n`);
    },
    warn: (text) => {
      stderr.write(`${style('yellow', 'Warning:')} ${text}\n`);
    },
    error: (text) => {
      stderr.write(`${text}\n`);
    },
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** https://no-color.org: any value but an empty one turns colours off. */
export const isColorWanted = (stream: Stream, env: Environment): boolean =>
  stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
