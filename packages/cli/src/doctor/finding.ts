// What a check of the doctor found.

export type Status = 'ok' | 'warning' | 'problem' | 'not_checked';

/** The same shape as the findings of `GET /api/v1/admin/diagnostics`. */
export type Finding = {
  /** Stable name, with the group before the dot. */
  readonly check: string;
  readonly status: Status;
  readonly message: string;
  readonly fix: string | null;
  readonly details: Readonly<Record<string, unknown>>;
};

type Details = Readonly<Record<string, unknown>>;

export const ok = (check: string, message: string, details: Details = {}): Finding => ({
  check,
  status: 'ok',
  message,
  fix: null,
  details,
});

export type Fault = { readonly message: string; readonly fix: string; readonly details?: Details };

export const problem = (check: string, { message, fix, details = {} }: Fault): Finding => ({
  check,
  status: 'problem',
  message,
  fix,
  details,
});

export const warning = (check: string, fault: Fault): Finding => ({
  ...problem(check, fault),
  status: 'warning',
});

export const notChecked = (check: string, message: string, fix: string | null = null): Finding => ({
  check,
  status: 'not_checked',
  message,
  fix,
  details: {},
});
