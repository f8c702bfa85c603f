// Reports what an owner uses of its quotas.
import { getUsage } from '@mediary/contract/operations/usage';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { OwnerUsage } from './usage.ts';

type Usage = { usageOf(ownerUserId: string): Promise<OwnerUsage> };

export const usageRoutes = (usage: Usage, { asReader }: Guards) => [
  asReader(getUsage, async ({ actor: { ownerUserId } }) => {
    const { usage: used, limits } = await usage.usageOf(ownerUserId);
    return {
      owner_user_id: ownerUserId,
      bytes: { used: used.bytes, limit: limits.bytes },
      assets: { used: used.assets, limit: limits.assets },
      pending: { used: used.pending, limit: limits.pending },
    };
  }),
];
