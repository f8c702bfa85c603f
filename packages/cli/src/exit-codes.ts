// Exit codes of the command, and the error that carries one.

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  auth: 3,
  notFound: 4,
  assetFailed: 5,
  timeout: 6,
  unreachable: 7,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure of the command itself; failures of requests are errors of the SDK. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  /** What the user can do about it. */
  readonly hint: string | undefined;

  constructor(message: string, exitCode: ExitCode, hint?: string) {
    super(message);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

export const usageError = (message: string, hint?: string): CliError =>
  new CliError(message, EXIT.usage, hint);
