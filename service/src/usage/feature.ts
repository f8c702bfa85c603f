// Usage: what owners use of their quotas.
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import { bind } from '../platform/bind.ts';
import { usageRoutes } from './usage.routes.ts';
import * as usageOperations from './usage.ts';

export type Usage = ReturnType<typeof createUsage>['operations'];

export function createUsage({ db, guards }: AppContext & { readonly guards: Guards }) {
  const underQuota: usageOperations.UnderQuota = (owner, work) =>
    usageOperations.underQuota({ db }, owner, work);
  const operations = { ...bind({ db }, usageOperations), underQuota };
  return { operations, routes: usageRoutes(operations, guards), jobs: {} };
}
