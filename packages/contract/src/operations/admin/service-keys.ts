// Operations on named service keys, guarded by the operator key.
import { jsonOperation } from '../../operation.ts';
import {
  CreateServiceKeyRequest,
  EXAMPLE_SERVICE_KEY,
  ListServiceKeysQuery,
  NewServiceKey,
  RotateServiceKeyRequest,
  ServiceKey,
  ServiceKeyList,
  UpdateServiceKeyRequest,
} from '../../schemas/admin/service-keys.ts';

const PATH = '/api/v1/admin/service-keys';
const ONE = '/api/v1/admin/service-keys/{id}';
const OPERATOR = { tag: 'Operators', auth: 'operator' } as const;
const EXAMPLE_NEW_KEY = {
  ...EXAMPLE_SERVICE_KEY,
  last_used_at: null,
  key: 'msk_EXAMPLE-not-a-key-0123456789abcdefghijklmx4Zq',
};

const NOT_FOUND = { code: 'NOT_FOUND', when: 'No such service key.' } as const;
const REVOKED = { code: 'CONFLICT', reason: 'key_revoked', when: 'The service key is revoked.' } as const;
const NAME_TAKEN = {
  code: 'CONFLICT',
  reason: 'name_taken',
  when: 'Another service key has this name.',
} as const;

export const listServiceKeys = jsonOperation({
  ...OPERATOR,
  id: 'listServiceKeys',
  method: 'GET',
  path: PATH,
  summary: 'List service keys',
  description: 'Lists the named service keys, newest first.',
  query: ListServiceKeysQuery,
  message: 'Service keys',
  data: ServiceKeyList,
  example: { items: [EXAMPLE_SERVICE_KEY], next_cursor: null },
});

export const createServiceKey = jsonOperation({
  ...OPERATOR,
  id: 'createServiceKey',
  method: 'POST',
  path: PATH,
  summary: 'Create a service key',
  description: 'Creates a named service key; the key is shown only once.',
  body: CreateServiceKeyRequest,
  isBodyRequired: true,
  message: 'Service key created',
  data: NewServiceKey,
  example: EXAMPLE_NEW_KEY,
  errors: [NAME_TAKEN, { code: 'CONFLICT', when: 'There are 1000 service keys that are not revoked.' }],
});

export const getServiceKey = jsonOperation({
  ...OPERATOR,
  id: 'getServiceKey',
  method: 'GET',
  path: ONE,
  summary: 'Get a service key',
  description: 'Returns a named service key, without the key itself.',
  message: 'Service key',
  data: ServiceKey,
  example: EXAMPLE_SERVICE_KEY,
  errors: [NOT_FOUND],
});

export const updateServiceKey = jsonOperation({
  ...OPERATOR,
  id: 'updateServiceKey',
  method: 'PATCH',
  path: ONE,
  summary: 'Update a service key',
  description: 'Changes the name, scopes, owners or expiry of a service key.',
  body: UpdateServiceKeyRequest,
  message: 'Service key updated',
  data: ServiceKey,
  example: EXAMPLE_SERVICE_KEY,
  errors: [NOT_FOUND, REVOKED, NAME_TAKEN],
});

export const revokeServiceKey = jsonOperation({
  ...OPERATOR,
  id: 'revokeServiceKey',
  method: 'DELETE',
  path: ONE,
  summary: 'Revoke a service key',
  description: 'Takes effect within 3 s in every process. A repeated call has no effect.',
  message: 'Service key revoked',
  data: ServiceKey,
  example: { ...EXAMPLE_SERVICE_KEY, revoked_at: '2026-11-22T10:16:12.000Z' },
  errors: [NOT_FOUND],
});

export const rotateServiceKey = jsonOperation({
  ...OPERATOR,
  id: 'rotateServiceKey',
  method: 'POST',
  path: '/api/v1/admin/service-keys/{id}/rotate',
  summary: 'Rotate a service key',
  description:
    'The old key stays valid for `overlap_s`. A key that an earlier rotation replaced stops working.',
  body: RotateServiceKeyRequest,
  message: 'Service key rotated',
  data: NewServiceKey,
  example: { ...EXAMPLE_NEW_KEY, previous_key_expires_at: '2026-11-23T10:16:12.000Z' },
  errors: [NOT_FOUND, REVOKED],
});
