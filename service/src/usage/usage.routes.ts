// What an owner uses of its quotas.
import { Type } from 'typebox';
import { nullable, Owner } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { OwnerUsage } from './usage.ts';

type Usage = { usageOf(ownerUserId: string): Promise<OwnerUsage> };

const measured = (description: string) =>
  Type.Object(
    { used: Type.Integer(), limit: nullable(Type.Integer({ description: 'Null: no limit' })) },
    { description },
  );

const UsageView = Type.Object({
  owner_user_id: Type.String(),
  bytes: measured('Originals that are stored, and announced sizes of uploads that are not; the trash counts'),
  assets: measured('All that are not deleted for good; the trash counts'),
  pending: measured('Uploads that were opened and are neither completed nor expired'),
});

export const usageRoutes = (usage: Usage, { asReader }: Guards) => [
  asReader({
    method: 'GET',
    url: '/usage',
    message: 'Usage',
    summary: 'How many bytes, assets and pending uploads an owner has, and the limits of each',
    query: Type.Object({ owner_user_id: Owner }),
    answer: UsageView,
    handle: async ({ actor: { ownerUserId } }) => {
      const { usage: used, limits } = await usage.usageOf(ownerUserId);
      return {
        owner_user_id: ownerUserId,
        bytes: { used: used.bytes, limit: limits.bytes },
        assets: { used: used.assets, limit: limits.assets },
        pending: { used: used.pending, limit: limits.pending },
      };
    },
  }),
];
