// Event tickets: signed texts in the URL of an event stream, for EventSource of browsers (contract B2).
import { unauthorized } from '../../platform/http/errors.ts';
import type { Caller } from '../caller.ts';
import type { AuthContext } from '../context.ts';
import { assertOwnerAllowed, assertScope } from '../permissions.ts';
import type { ServiceKeyGrant } from '../keys/service-key-grant.ts';
import { signExpiring, verifyExpiring } from '../signed-token.ts';

type EventTicket = {
  readonly ownerUserId: string;
  /** The named service key that created the ticket; the ticket ends with it. */
  readonly serviceKeyId?: string;
};

const LIFETIME_S = 60;

type CreatedEventTicket = { readonly ticket: string; readonly expiresAt: Date };

/** The ticket expires with the access token of the caller, if that is earlier. */
export async function createEventTicket(
  { urlSecrets, now }: AuthContext,
  caller: Caller,
  ownerUserId: string,
): Promise<CreatedEventTicket> {
  const latest = now().getTime() / 1000 + LIFETIME_S;
  const tokenEnd = caller.kind === 'user' ? caller.tokenEnd : undefined;
  const expires = Math.floor(Math.min(latest, tokenEnd ?? latest));
  const serviceKeyId = caller.kind === 'service' ? caller.key?.id : undefined;
  const content: EventTicket = { ownerUserId, ...(serviceKeyId !== undefined && { serviceKeyId }) };
  return {
    ticket: signExpiring(urlSecrets, 'events', { content, expires }),
    expiresAt: new Date(expires * 1000),
  };
}

const MESSAGES = {
  invalid_credential: 'The event ticket is not valid.',
  expired: 'The event ticket has expired. Request a new one.',
};

const ticketFault = (reason: keyof typeof MESSAGES) =>
  unauthorized(MESSAGES[reason], { reason, field: 'ticket' });

/** The owner as a user. Throws UNAUTHORIZED, and FORBIDDEN when the service key may read no longer. */
export function callerOfTicket(
  { urlSecrets, now, namedKeys }: AuthContext,
  text: string,
): Caller | Promise<Caller> {
  const nowSeconds = now().getTime() / 1000;
  const verified = verifyExpiring<EventTicket>(urlSecrets, 'events', { text, nowSeconds });
  if ('fault' in verified) throw ticketFault(verified.fault === 'expired' ? 'expired' : 'invalid_credential');
  const { serviceKeyId, ownerUserId } = verified.content;
  const caller: Caller = { kind: 'user', userId: ownerUserId };
  if (serviceKeyId === undefined) return caller;
  return namedKeys.findById(serviceKeyId).then((key) => {
    assertKeyAllows(key, verified.content);
    return caller;
  });
}

function assertKeyAllows(key: ServiceKeyGrant | undefined, { ownerUserId }: EventTicket): void {
  if (!key) throw ticketFault('expired');
  assertScope({ kind: 'service', key }, 'read');
  assertOwnerAllowed({ kind: 'service', key }, ownerUserId);
}
