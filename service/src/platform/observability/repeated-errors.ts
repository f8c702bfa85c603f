// Limits equal errors in the log to one line a minute, with the number of those that were left out.
import { type LoggerOptions, pino } from 'pino';
import { type ErrorLike, isErrorLike } from './logged-errors.ts';

/** Writes a line of the log; `leftOut`: equal ones since the line before. */
type WriteLine = (leftOut: number) => void;

type RepeatLimit = {
  /** Writes the line now, or leaves it out; the last one that was left out is written after the minute. */
  write(key: string, line: WriteLine): void;
};

const INTERVAL_MS = 60_000;
/** More different errors than this are not limited, because each takes memory. */
const MAX_KEYS = 200;

/** In characters of a message. */
const MAX_COMPARED = 200;
const { warn: WARN, fatal: FATAL } = pino.levels.values as { readonly warn: number; readonly fatal: number };

type RecentError = { count: number; last: WriteLine | undefined };

function createRepeatLimit(): RepeatLimit {
  const recent = new Map<string, RecentError>();
  const end = (key: string): void => {
    const { count, last } = recent.get(key) ?? { count: 0 };
    recent.delete(key);
    if (!last) return;
    start(key);
    last(count - 1);
  };
  const start = (key: string): void => {
    recent.set(key, { count: 0, last: undefined });
    setTimeout(end, INTERVAL_MS, key).unref();
  };
  return {
    write: (key, line) => {
      const equal = recent.get(key);
      if (equal) {
        equal.count += 1;
        equal.last = line;
        return;
      }
      if (recent.size < MAX_KEYS) start(key);
      line(0);
    },
  };
}

/** Errors are equal if the text of the line, their code and their message are. */
export function limitRepeatedErrors(): NonNullable<LoggerOptions['hooks']> {
  const limit = createRepeatLimit();
  return {
    logMethod(args, method, level) {
      const [facts, message] = args as [unknown, string?];
      const error = level >= WARN && level < FATAL ? errorOf(facts) : undefined;
      if (!error) {
        method.apply(this, args);
        return;
      }
      limit.write(`${message}\n${error.code}\n${error.message.slice(0, MAX_COMPARED)}`, (leftOut) => {
        if (leftOut === 0) method.apply(this, args);
        else method.apply(this, [{ ...(facts as object), left_out: leftOut }, message]);
      });
    },
  };
}

const errorOf = (facts: unknown): ErrorLike | undefined => {
  const err = typeof facts === 'object' && facts !== null && 'err' in facts ? facts.err : undefined;
  return isErrorLike(err) ? err : undefined;
};
