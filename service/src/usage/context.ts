// What the functions of usage need.
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { Database } from '../platform/postgres/database.ts';

export type UsageContext = {
  readonly db: Database;
  readonly guards: Guards;
  readonly asOperator: AsOperator;
};
