// For operators: the limits of one owner in place of the settings'.
import { type Static, Type } from 'typebox';
import { nullable } from '../assets/asset-view.ts';
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

const limit = (description: string) =>
  nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }));
const MAX_BYTES = limit('Stored and announced bytes of originals; null: no limit');
const MAX_ASSETS = limit('Assets, those in the trash too; null: no limit');
const MAX_PENDING = limit('Uploads that are open at a time; null: no limit');

const Overrides = Type.Object({
  max_bytes: Type.Optional(MAX_BYTES),
  max_assets: Type.Optional(MAX_ASSETS),
  max_pending: Type.Optional(MAX_PENDING),
});
const LimitsView = Type.Object({
  owner_user_id: Type.String(),
  limits: Type.Object(
    { max_bytes: MAX_BYTES, max_assets: MAX_ASSETS, max_pending: MAX_PENDING },
    { description: 'In force: those of this owner, else the settings' },
  ),
  overrides: Overrides,
  usage: Type.Object({ bytes: Type.Integer(), assets: Type.Integer(), pending: Type.Integer() }),
});

const PATH = '/admin/owners/:owner_user_id/limits';

export const ownerLimitsRoutes = (usage: Usage, asOperator: AsOperator) => [
  asOperator({
    method: 'GET',
    url: PATH,
    message: 'Limits',
    summary: 'The limits of one owner, and what it uses',
    answer: LimitsView,
    errors: [400],
    handle: async ({ params }) => {
      const owner = ownerIn(params);
      return viewOf(owner, await usage.usageOf(owner));
    },
  }),
  asOperator({
    method: 'PUT',
    url: PATH,
    message: 'Limits set',
    summary:
      'Replaces the limits of one owner: null is no limit, an omitted one is the setting; what is over a new limit stays',
    body: Overrides,
    answer: LimitsView,
    handle: async ({ params, body }) => {
      const owner = ownerIn(params);
      return viewOf(owner, await usage.setLimits(owner, overridesIn(body)));
    },
  }),
  asOperator({
    method: 'DELETE',
    url: PATH,
    message: 'Limits removed',
    summary: 'Removes the limits of one owner: the settings apply again',
    answer: LimitsView,
    errors: [400],
    handle: async ({ params }) => {
      const owner = ownerIn(params);
      return viewOf(owner, await usage.clearLimits(owner));
    },
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

const overridesIn = ({ max_bytes, max_assets, max_pending }: Static<typeof Overrides>): Partial<Limits> => ({
  ...(max_bytes !== undefined && { bytes: max_bytes }),
  ...(max_assets !== undefined && { assets: max_assets }),
  ...(max_pending !== undefined && { pending: max_pending }),
});

const viewOf = (owner: string, { usage, limits, overrides }: OwnerUsage): Static<typeof LimitsView> => ({
  owner_user_id: owner,
  limits: { max_bytes: limits.bytes, max_assets: limits.assets, max_pending: limits.pending },
  overrides: {
    ...(overrides.bytes !== undefined && { max_bytes: overrides.bytes }),
    ...(overrides.assets !== undefined && { max_assets: overrides.assets }),
    ...(overrides.pending !== undefined && { max_pending: overrides.pending }),
  },
  usage: { ...usage },
});
