// Named service keys, which operators manage.
import { type Static, Type } from 'typebox';
import { SERVICE_SCOPES } from '../../enums.ts';
import { Cursor, NextCursor, nullable, Timestamp } from '../common.ts';

const DAY_S = 86_400;

const members = {
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Unique among the keys that are not revoked.',
    examples: ['billing'],
  }),
  scopes: Type.Array(Type.Enum([...SERVICE_SCOPES]), {
    minItems: 1,
    uniqueItems: true,
    description:
      '`read`: GET. `write`: everything that creates, changes or deletes. ' +
      '`webhooks`: the endpoints of outbound webhooks. `legal_hold`: setting and releasing legal holds.',
    examples: [['read']],
  }),
  owner_prefixes: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
    maxItems: 100,
    description:
      'The key may access the assets of owners whose id starts with one of these; empty: of all owners. ' +
      'Must be empty with the scope `webhooks`, because endpoints receive the events of all owners.',
    examples: [['shop_']],
  }),
  expires_at: nullable(Timestamp),
};

export const CreateServiceKeyRequest = Type.Object(
  {
    name: members.name,
    scopes: members.scopes,
    owner_prefixes: Type.Optional(members.owner_prefixes),
    expires_at: Type.Optional(members.expires_at),
  },
  { $id: 'CreateServiceKeyRequest', examples: [{ name: 'billing', scopes: ['read'] }] },
);
export type CreateServiceKeyRequest = Static<typeof CreateServiceKeyRequest>;

export const UpdateServiceKeyRequest = Type.Object(
  {
    name: Type.Optional(members.name),
    scopes: Type.Optional(members.scopes),
    owner_prefixes: Type.Optional(members.owner_prefixes),
    expires_at: Type.Optional(members.expires_at),
  },
  {
    $id: 'UpdateServiceKeyRequest',
    additionalProperties: false,
    examples: [{ scopes: ['read', 'write'] }],
  },
);
export type UpdateServiceKeyRequest = Static<typeof UpdateServiceKeyRequest>;

export const RotateServiceKeyRequest = Type.Object(
  {
    overlap_s: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30 * DAY_S,
        default: DAY_S,
        description: 'How long the old key stays valid, in seconds; default: a day.',
      }),
    ),
  },
  { $id: 'RotateServiceKeyRequest', examples: [{ overlap_s: 3600 }] },
);

export const ListServiceKeysQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
  cursor: Type.Optional(Cursor),
  include_revoked: Type.Boolean({ default: false, description: 'Also list revoked keys.' }),
});

const view = {
  id: Type.String({ format: 'uuid' }),
  ...members,
  key_hint: Type.String({ description: 'The last four characters of the key.', examples: ['x4Zq'] }),
  previous_key_expires_at: nullable(
    Type.String({ format: 'date-time', description: 'Until when the key before the rotation is valid.' }),
  ),
  last_used_at: nullable(
    Type.String({ format: 'date-time', description: 'To the minute; null: never used.' }),
  ),
  created_at: Timestamp,
  revoked_at: nullable(Timestamp),
};

export const ServiceKey = Type.Object(view, { $id: 'ServiceKey' });
export type ServiceKey = Static<typeof ServiceKey>;

export const NewServiceKey = Type.Object(
  {
    ...view,
    key: Type.String({
      description: 'The key itself, for `X-Service-Key`. It is shown only in this response.',
      examples: ['msk_…'],
    }),
  },
  { $id: 'NewServiceKey' },
);
export type NewServiceKey = Static<typeof NewServiceKey>;

export const ServiceKeyList = Type.Object(
  { items: Type.Array(ServiceKey), next_cursor: NextCursor },
  { $id: 'ServiceKeyList' },
);

export const EXAMPLE_SERVICE_KEY: ServiceKey = {
  id: '019aab7c-7777-7c55-9f0e-000000000003',
  name: 'billing',
  scopes: ['read'],
  owner_prefixes: [],
  expires_at: null,
  key_hint: 'x4Zq',
  previous_key_expires_at: null,
  last_used_at: '2026-11-22T10:16:00.000Z',
  created_at: '2026-11-20T09:00:00.000Z',
  revoked_at: null,
};
