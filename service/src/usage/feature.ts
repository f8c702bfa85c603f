// Usage: quotas of owners.
import { bind } from '../platform/bind.ts';
import type { UsageContext } from './context.ts';
import { findByteQuota, recordDefaultLimits, underQuota } from './usage.ts';
import { ownerLimitsRoutes, usageRoutes } from './usage.routes.ts';

export type Usage = ReturnType<typeof createUsage>['operations'];

export function createUsage(ctx: UsageContext) {
  return {
    operations: {
      ...bind(ctx, { findByteQuota, recordDefaultLimits }),
      underQuota: <T>(owner: string, work: () => Promise<T>) => underQuota(ctx, owner, work),
    },
    routes: [...usageRoutes(ctx), ...ownerLimitsRoutes(ctx)],
    jobs: {},
  };
}
