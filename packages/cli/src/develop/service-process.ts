// Runs the service as a child process: its log lines, its start message, and how it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Environment } from '../context.ts';
import { toPlain } from '../text.ts';
import type { InstalledService } from './find-service.ts';

export type LogLine = {
  readonly level: string;
  readonly text: string;
  /** Message of the error that the line is about. */
  readonly reason?: string | undefined;
  /** Members of the line, such as a status. */
  readonly facts: Readonly<Record<string, unknown>>;
};

export type ServiceProcess = {
  /** The address of the service. */
  readonly started: Promise<string>;
  /** Why it ended, such as `exit code 1: the port is in use`. */
  readonly ended: Promise<string>;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
};

type ProcessOptions = {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly folder: string;
  readonly onLine: (line: LogLine) => void;
};

export function startServiceProcess(
  { node, script }: InstalledService,
  { args, env, folder, onLine }: ProcessOptions,
): ServiceProcess {
  // Its own group: the terminal sends Ctrl-C to this process alone, which stops the service once.
  const child = spawn(node, [script, ...args], {
    cwd: folder,
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): unknown => child.kill('SIGTERM');
  process.once('exit', kill);
  let reason = '';
  const ended = once(child, 'close').then(
    ([code, signal]) => (signal === null ? `exit code ${code}` : `signal ${signal}`) + reason,
    (error: Error) => error.message,
  );
  const started = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = parseLine(text);
      const { address } = line.facts;
      if (line.text === 'service started' && typeof address === 'string') resolve(address);
      else if (line.text !== '') onLine(line);
      if (line.level === 'fatal') reason = `: ${line.reason ?? line.text}`;
    });
  });
  createInterface({ input: child.stderr }).on('line', (text) => {
    reason = `: ${toPlain(text)}`;
    onLine({ level: 'error', text: toPlain(text), facts: {} });
  });
  const stop = async (): Promise<void> => {
    kill();
    await ended;
    process.off('exit', kill);
  };
  return { started, ended, stop };
}

/** Members that are the same in every line, or shown elsewhere. */
const HIDDEN = new Set(['instance', 'host', 'role', 'version', 'time', 'level', 'msg', 'err', 'pid']);

/** Lines that are not JSON come from the simulators. */
export function parseLine(text: string): LogLine {
  const parsed = parseObject(text);
  if (!parsed) return { level: 'info', text: toPlain(text.trim()), facts: {} };
  const { level, msg, err } = parsed;
  const { message, stack } = (err ?? {}) as { readonly message?: unknown; readonly stack?: unknown };
  const isSevere = level === 'error' || level === 'fatal';
  const details = isSevere && typeof stack === 'string' ? stack : message;
  const lines = [String(msg ?? ''), ...(details === undefined ? [] : String(details).split('\n'))];
  return {
    level: String(level),
    text: lines.map((line) => toPlain(line)).join('\n  '),
    reason: typeof message === 'string' ? message : undefined,
    facts: Object.fromEntries(Object.entries(parsed).filter(([name]) => !HIDDEN.has(name))),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const formatFacts = (facts: LogLine['facts']): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name}=${toPlain(toFact(value))}`)
    .join(' ');

const toFact = (value: unknown): string =>
  typeof value === 'string' && /^[\w.:/@-]+$/.test(value) ? value : JSON.stringify(value);
