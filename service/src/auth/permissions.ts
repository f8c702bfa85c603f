// What a caller may do by its service key: scopes and owners (contract A4).
import type { ServiceScope } from '@mediary/contract/enums';
import { forbidden } from '../platform/http/errors.ts';
import type { Caller } from './caller.ts';

/** Throws FORBIDDEN for a service key without this scope. Users and SERVICE_API_KEY have every scope. */
export function assertScope(caller: Caller, scope: ServiceScope): void {
  if (caller.kind !== 'service' || !caller.key || caller.key.scopes.includes(scope)) return;
  throw forbidden(`The service key "${caller.key.name}" does not have the scope ${scope}`, {
    reason: 'missing_scope',
    scope,
  });
}

const keyOf = (caller: Caller) => (caller.kind === 'service' ? caller.key : undefined);

/** False for a service key that is limited to other owners. Undefined: all owners. */
export function isOwnerAllowed(caller: Caller, ownerUserId: string | undefined): boolean {
  const { ownerPrefixes = [] } = keyOf(caller) ?? {};
  if (ownerPrefixes.length === 0) return true;
  return ownerUserId !== undefined && ownerPrefixes.some((prefix) => ownerUserId.startsWith(prefix));
}

/** Throws FORBIDDEN for a service key that is limited to other owners. Undefined: all owners. */
export function assertOwnerAllowed(caller: Caller, ownerUserId: string | undefined): void {
  if (isOwnerAllowed(caller, ownerUserId)) return;
  const name = keyOf(caller)?.name;
  throw forbidden(`The service key "${name}" is limited to owners whose id starts with another prefix`, {
    reason: 'owner_not_allowed',
    field: 'owner_user_id',
  });
}
