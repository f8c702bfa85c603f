// Usage: quotas of owners.
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import { ownerLimitsRoutes, usageRoutes } from './usage.routes.ts';
import * as usageOperations from './usage.ts';

export type Usage = ReturnType<typeof createUsage>['operations'];

type Needs = AppContext & { readonly guards: Guards; readonly asOperator: AsOperator };

export function createUsage({ db, guards, asOperator }: Needs) {
  // `bind` cannot keep the type parameter.
  const underQuota: usageOperations.UnderQuota = (owner, work) =>
    usageOperations.underQuota({ db }, owner, work);
  const operations = { ...bind({ db }, usageOperations), underQuota };
  return {
    operations,
    routes: [...usageRoutes(operations, guards), ...ownerLimitsRoutes(operations, asOperator)],
    jobs: {},
  };
}
