// Refuses members of a body that the operation does not know, so that a misspelt one is not ignored.
import { badRequest } from '../platform/errors.ts';

/** Throws BAD_REQUEST that names every unknown member and lists the allowed ones. */
export function assertKnownMembers(body: object, allowed: readonly string[]): void {
  const unknown = Object.keys(body).filter((name) => !allowed.includes(name));
  const [field] = unknown;
  if (field === undefined) return;
  const names = unknown.map((name) => JSON.stringify(name)).join(', ');
  throw badRequest(
    `Unknown member${unknown.length > 1 ? 's' : ''} in the body: ${names}. Allowed: ${allowed.join(', ')}.`,
    { field, reason: 'unknown_member', allowed },
  );
}
