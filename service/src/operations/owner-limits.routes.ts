// For operators: the limits of one owner in place of the settings'.
import { getOwnerLimits, removeOwnerLimits, setOwnerLimits } from '@mediary/contract/operations/usage';
import type { OwnerLimits, OwnerLimitsRequest } from '@mediary/contract/schemas/usage';
import type { Static } from 'typebox';
import { parseUserId } from '../auth/user-id.ts';
import { badRequest } from '../platform/errors.ts';
import type { guarded } from '../platform/http/route.ts';
import type { Limits, OwnerUsage } from '../usage/usage.ts';

type AsOperator = ReturnType<typeof guarded<undefined, object>>;
type Usage = {
  usageOf(ownerUserId: string): Promise<OwnerUsage>;
  setLimits(ownerUserId: string, overrides: Partial<Limits>): Promise<OwnerUsage>;
  clearLimits(ownerUserId: string): Promise<OwnerUsage>;
};

export const ownerLimitsRoutes = (usage: Usage, asOperator: AsOperator) => [
  asOperator(getOwnerLimits, async ({ params }) => {
    const owner = ownerIn(params);
    return viewOf(owner, await usage.usageOf(owner));
  }),
  asOperator(setOwnerLimits, async ({ params, body }) => {
    const owner = ownerIn(params);
    return viewOf(owner, await usage.setLimits(owner, overridesIn(body)));
  }),
  asOperator(removeOwnerLimits, async ({ params }) => {
    const owner = ownerIn(params);
    return viewOf(owner, await usage.clearLimits(owner));
  }),
];

function ownerIn(params: Readonly<Record<string, string>>): string {
  const owner = parseUserId(params['owner_user_id']);
  if (owner === undefined)
    throw badRequest('owner_user_id must be text of 1 to 255 characters without control characters', {
      field: 'owner_user_id',
      limit: 255,
    });
  return owner;
}

const overridesIn = ({
  max_bytes,
  max_assets,
  max_pending,
}: Static<typeof OwnerLimitsRequest>): Partial<Limits> => ({
  ...(max_bytes !== undefined && { bytes: max_bytes }),
  ...(max_assets !== undefined && { assets: max_assets }),
  ...(max_pending !== undefined && { pending: max_pending }),
});

const viewOf = (owner: string, { usage, limits, overrides }: OwnerUsage): Static<typeof OwnerLimits> => ({
  owner_user_id: owner,
  limits: { max_bytes: limits.bytes, max_assets: limits.assets, max_pending: limits.pending },
  overrides: {
    ...(overrides.bytes !== undefined && { max_bytes: overrides.bytes }),
    ...(overrides.assets !== undefined && { max_assets: overrides.assets }),
    ...(overrides.pending !== undefined && { max_pending: overrides.pending }),
  },
  usage: { ...usage },
});
