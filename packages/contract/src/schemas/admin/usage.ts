// Usage and limits of an owner.
import { type Static, Type } from 'typebox';
import { nullable, OwnerUserId } from '../common.ts';

const amounts = {
  used: Type.Integer(),
  limit: nullable(Type.Integer({ description: 'Null: no limit.' })),
};

const measured = (description: string) => Type.Object(amounts, { description });

export const UsageQuery = Type.Object({ owner_user_id: OwnerUserId });

export const Usage = Type.Object(
  {
    owner_user_id: Type.String(),
    bytes: Type.Object(
      {
        ...amounts,
        uploading: Type.Integer({
          description: 'Bytes that open uploads have received so far. `used` includes them.',
        }),
      },
      {
        description:
          'Stored originals and captions, including the trash, and open uploads: their announced sizes, ' +
          'or the bytes that they have received.',
      },
    ),
    assets: measured('Assets, including those in the trash.'),
    pending: measured('Uploads that are neither completed nor expired.'),
  },
  { $id: 'Usage' },
);

export const EXAMPLE_USAGE: Static<typeof Usage> = {
  owner_user_id: 'user_42',
  bytes: { used: 18_412_733, uploading: 1_048_576, limit: 10_737_418_240 },
  assets: { used: 12, limit: null },
  pending: { used: 1, limit: 20 },
};

const limit = (description: string) =>
  nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }));

const limits = {
  max_bytes: limit('Bytes of originals, open uploads and captions. Null: no limit.'),
  max_assets: limit('Assets, including those in the trash. Null: no limit.'),
  max_pending: limit('Open uploads. Null: no limit.'),
};

const overrides = {
  max_bytes: Type.Optional(limits.max_bytes),
  max_assets: Type.Optional(limits.max_assets),
  max_pending: Type.Optional(limits.max_pending),
};

export const OwnerLimitsRequest = Type.Object(overrides, {
  $id: 'OwnerLimitsRequest',
  examples: [{ max_bytes: 10_737_418_240, max_assets: null }],
});

export type OwnerLimitsRequest = Static<typeof OwnerLimitsRequest>;

export const OwnerLimits = Type.Object(
  {
    owner_user_id: Type.String(),
    limits: Type.Object(limits, { description: 'In force: the overrides, else the settings.' }),
    overrides: Type.Object(overrides, { description: 'Set for this owner.' }),
    usage: Type.Object({ bytes: Type.Integer(), assets: Type.Integer(), pending: Type.Integer() }),
  },
  { $id: 'OwnerLimits' },
);

export type OwnerLimits = Static<typeof OwnerLimits>;

export const EXAMPLE_OWNER_LIMITS: OwnerLimits = {
  owner_user_id: 'user_42',
  limits: { max_bytes: 10_737_418_240, max_assets: null, max_pending: 20 },
  overrides: { max_bytes: 10_737_418_240 },
  usage: { bytes: 18_412_733, assets: 12, pending: 1 },
};
