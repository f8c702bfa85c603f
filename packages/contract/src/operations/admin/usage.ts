// Usage of an owner, and the limits and encodes that operators control.
import { jsonOperation } from '../../operation.ts';
import { CancelledEncode, EncodeQueue, EXAMPLE_ENCODE, ListEncodesQuery } from '../../schemas/encodes.ts';
import {
  EXAMPLE_OWNER_LIMITS,
  EXAMPLE_USAGE,
  OwnerLimits,
  OwnerLimitsRequest,
  Usage,
  UsageQuery,
} from '../../schemas/admin/usage.ts';

export const getUsage = jsonOperation({
  id: 'getUsage',
  method: 'GET',
  path: '/api/v1/usage',
  tag: 'Assets',
  auth: 'caller',
  summary: 'Get the usage of an owner',
  description: 'Returns how many bytes, assets and open uploads an owner has, and their limits.',
  query: UsageQuery,
  message: 'Usage',
  data: Usage,
  example: EXAMPLE_USAGE,
});

const LIMITS = {
  path: '/api/v1/admin/owners/{owner_user_id}/limits',
  tag: 'Operators',
  auth: 'operator',
  data: OwnerLimits,
  example: EXAMPLE_OWNER_LIMITS,
} as const;

export const getOwnerLimits = jsonOperation({
  ...LIMITS,
  id: 'getOwnerLimits',
  method: 'GET',
  summary: 'Get the limits of an owner',
  description: 'Returns the limits of one owner and what it uses.',
  message: 'Limits',
});

export const setOwnerLimits = jsonOperation({
  ...LIMITS,
  id: 'setOwnerLimits',
  method: 'PUT',
  summary: 'Set the limits of an owner',
  description:
    'Null: no limit. Omitted: the limit of the settings. Existing assets above a new limit are kept; ' +
    'only further uploads are rejected.',
  body: OwnerLimitsRequest,
  message: 'Limits set',
});

export const removeOwnerLimits = jsonOperation({
  ...LIMITS,
  id: 'removeOwnerLimits',
  method: 'DELETE',
  summary: 'Remove the limits of an owner',
  description: 'Removes the limits of one owner: the settings apply again.',
  message: 'Limits removed',
});

export const listEncodes = jsonOperation({
  id: 'listEncodes',
  method: 'GET',
  path: '/api/v1/admin/encodes',
  tag: 'Operators',
  auth: 'operator',
  summary: 'List encodes',
  description: 'Lists the encodes of all workers: running ones, then waiting ones in the order of execution.',
  query: ListEncodesQuery,
  message: 'Encodes',
  data: EncodeQueue,
  example: { running: 1, waiting: 0, items: [EXAMPLE_ENCODE], next_cursor: null },
});

export const cancelEncode = jsonOperation({
  id: 'cancelEncode',
  method: 'POST',
  path: '/api/v1/admin/encodes/{id}/cancel',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Cancel an encode',
  description: 'The asset fails with the code `cancelled`; its owner can retry it.',
  message: 'Encode cancelled',
  data: CancelledEncode,
  example: { asset_id: EXAMPLE_ENCODE.asset_id, cancelled: true },
  errors: [
    { code: 'NOT_FOUND', when: 'No such asset, or it is deleted.' },
    { code: 'CONFLICT', reason: 'not_encoding', when: 'The asset is not being encoded.' },
  ],
});
