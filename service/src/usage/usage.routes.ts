// Shows the usage of an owner, and lets operators set an owner's limits.
import {
  getOwnerLimits,
  getUsage,
  removeOwnerLimits,
  setOwnerLimits,
} from '@mediary/contract/operations/admin/usage';
import { getOwner as get, listOwners as list } from '@mediary/contract/operations/admin/owner-totals';
import type { OwnerLimits, OwnerLimitsRequest } from '@mediary/contract/schemas/admin/usage';
import { parseOwnerId } from '../auth/user-id.ts';
import type { UsageContext } from './context.ts';
import { getOwner, listOwners } from './owner-totals.ts';
import { clearLimits, getOwnerUsage, type UsageLimits, type OwnerUsage, setLimits } from './usage.ts';

export const usageRoutes = (ctx: UsageContext) => [
  ctx.guards.asReader(getUsage, async ({ actor: { ownerUserId } }) => {
    const { usage: used, uploading, limits } = await getOwnerUsage(ctx, ownerUserId);
    return {
      owner_user_id: ownerUserId,
      bytes: { used: used.bytes, uploading, limit: limits.bytes },
      assets: { used: used.assets, limit: limits.assets },
      pending: { used: used.pending, limit: limits.pending },
    };
  }),
];

export const ownerRoutes = (ctx: UsageContext) => [
  ctx.asOperator(list, ({ query }) => listOwners(ctx, query)),
  ctx.asOperator(get, ({ params }) => getOwner(ctx, parseOwnerId(params.owner_user_id))),
];

export const ownerLimitsRoutes = (ctx: UsageContext) => [
  ctx.asOperator(getOwnerLimits, async ({ params }) => {
    const owner = parseOwnerId(params.owner_user_id);
    return toView(owner, await getOwnerUsage(ctx, owner));
  }),
  ctx.asOperator(setOwnerLimits, async ({ params, body }) => {
    const owner = parseOwnerId(params.owner_user_id);
    return toView(owner, await setLimits(ctx, owner, toOverrides(body)));
  }),
  ctx.asOperator(removeOwnerLimits, async ({ params }) => {
    const owner = parseOwnerId(params.owner_user_id);
    return toView(owner, await clearLimits(ctx, owner));
  }),
];

const toOverrides = ({ max_bytes, max_assets, max_pending }: OwnerLimitsRequest): Partial<UsageLimits> => ({
  ...(max_bytes !== undefined && { bytes: max_bytes }),
  ...(max_assets !== undefined && { assets: max_assets }),
  ...(max_pending !== undefined && { pending: max_pending }),
});

const toView = (owner: string, { usage, limits, overrides }: OwnerUsage): OwnerLimits => ({
  owner_user_id: owner,
  limits: { max_bytes: limits.bytes, max_assets: limits.assets, max_pending: limits.pending },
  overrides: {
    ...(overrides.bytes !== undefined && { max_bytes: overrides.bytes }),
    ...(overrides.assets !== undefined && { max_assets: overrides.assets }),
    ...(overrides.pending !== undefined && { max_pending: overrides.pending }),
  },
  usage: { ...usage },
});
