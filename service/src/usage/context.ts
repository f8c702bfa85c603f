// What the functions of usage need.
import type { Secret } from '../auth/secret.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { Database } from '../platform/postgres/database.ts';

export type UsageContext = {
  readonly db: Database;
  /** Sign cursors of lists. */
  readonly urlSecrets: readonly Secret[];
  readonly guards: Guards;
  readonly asOperator: AsOperator;
};
