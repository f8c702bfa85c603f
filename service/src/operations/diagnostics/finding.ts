// Findings of the diagnostics: what was checked, what was found, and what to do.
import type { DiagnosticFinding } from '@mediary/contract/schemas/diagnostics';

export type Finding = DiagnosticFinding;

/** `message` says what is wrong, `fix` what to do. Neither contains secrets, SQL or paths. */
type Trouble = {
  readonly message: string;
  readonly fix: string;
  readonly details?: Readonly<Record<string, unknown>>;
};

export const ok = (check: string, message: string, details: Trouble['details'] = {}): Finding => ({
  check,
  status: 'ok',
  message,
  fix: null,
  details,
});

export const problem = (check: string, { message, fix, details = {} }: Trouble): Finding => ({
  check,
  status: 'problem',
  message,
  fix,
  details,
});

export const warning = (check: string, { message, fix, details = {} }: Trouble): Finding => ({
  check,
  status: 'warning',
  message,
  fix,
  details,
});

/** `message` says why; `fix` how the check becomes possible. */
export const notChecked = (check: string, message: string, fix: string | null = null): Finding => ({
  check,
  status: 'not_checked',
  message,
  fix,
  details: {},
});

/** A part of the diagnostics; `name` names the finding when the part fails or takes longer than allowed. */
export type Check = {
  readonly name: string;
  readonly deadlineMs: number;
  readonly run: () => Promise<readonly Finding[]>;
};
