// Lets operators manage named service keys.
import type { ServiceScope } from '@mediary/contract/enums';
import {
  createServiceKey,
  getServiceKey,
  listServiceKeys,
  revokeServiceKey,
  rotateServiceKey,
  updateServiceKey,
} from '@mediary/contract/operations/admin/service-keys';
import type {
  NewServiceKey,
  ServiceKey,
  UpdateServiceKeyRequest,
} from '@mediary/contract/schemas/admin/service-keys';
import { badRequest } from '../../platform/http/errors.ts';
import type { AsOperator } from '../../platform/http/route.ts';
import type { AuthContext } from '../context.ts';
import * as keys from './service-keys.ts';

const DAY_S = 86_400;

export const serviceKeyRoutes = (ctx: AuthContext, asOperator: AsOperator) => [
  asOperator(listServiceKeys, async ({ query: { limit, cursor, include_revoked } }) => {
    const request = { limit, includeRevoked: include_revoked, cursor };
    const { rows, nextCursor } = await keys.listServiceKeys(ctx, request);
    return { items: rows.map(toView), next_cursor: nextCursor };
  }),
  asOperator(createServiceKey, async ({ body: { name, scopes, owner_prefixes = [], expires_at } }) =>
    toNewView(
      await keys.createServiceKey(ctx, {
        name,
        scopes,
        owner_prefixes,
        expires_at: parseTime(expires_at) ?? null,
      }),
    ),
  ),
  asOperator(getServiceKey, async ({ params }) => toView(await keys.getServiceKey(ctx, params.id))),
  asOperator(updateServiceKey, async ({ params, body }) =>
    toView(await keys.updateServiceKey(ctx, params.id, toChanges(body))),
  ),
  asOperator(revokeServiceKey, async ({ params }) => toView(await keys.revokeServiceKey(ctx, params.id))),
  asOperator(rotateServiceKey, async ({ params, body: { overlap_s = DAY_S } }) =>
    toNewView(await keys.rotateServiceKey(ctx, params.id, overlap_s)),
  ),
];

const toChanges = ({ expires_at, ...members }: UpdateServiceKeyRequest) => ({
  ...members,
  ...(expires_at !== undefined && { expires_at: parseTime(expires_at) ?? null }),
});

/** Throws BAD_REQUEST: the format does not exclude days such as February 30. */
function parseTime(text: string | null | undefined): Date | undefined {
  if (text === null || text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw badRequest('expires_at must be an ISO 8601 time with its zone', { field: 'expires_at' });
  return time;
}

const toNewView = ({ row, key }: keys.CreatedKey): NewServiceKey => ({ ...toView(row), key });

const toView = (row: keys.CreatedKey['row']): ServiceKey => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes as ServiceScope[],
  owner_prefixes: row.owner_prefixes,
  expires_at: formatTime(row.expires_at),
  key_hint: row.key_hint,
  previous_key_expires_at: formatTime(row.previous_expires_at),
  last_used_at: formatTime(row.last_used_at),
  created_at: row.created_at.toISOString(),
  revoked_at: formatTime(row.revoked_at),
});

const formatTime = (time: Date | null): string | null => time?.toISOString() ?? null;
