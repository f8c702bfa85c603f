// Findings of checks: what was checked, what was found, and what to do.

export type Finding = {
  /** Stable name, with the group before the dot. */
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem' | 'not_checked';
  readonly message: string;
  readonly fix: string | null;
  readonly details: Record<string, unknown>;
};

/** `message` says what is wrong, `fix` what to do. Neither contains secrets, SQL or paths. */
export type Trouble = {
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

export const warning = (check: string, trouble: Trouble): Finding => ({
  ...problem(check, trouble),
  status: 'warning',
});

/** `message` says why; `fix` how the check becomes possible. */
export const notChecked = (check: string, message: string, fix: string | null = null): Finding => ({
  check,
  status: 'not_checked',
  message,
  fix,
  details: {},
});
