// A part of the diagnostics.
import type { Finding } from '@mediary/checks/finding';

/** `name` names the finding when the check fails or takes longer than allowed. */
export type Check = {
  readonly name: string;
  readonly deadlineMs: number;
  readonly run: () => Promise<readonly Finding[]>;
};
