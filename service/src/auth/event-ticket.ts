// Event tickets: signed texts in the URL of an event stream, for EventSource of browsers (contract B2).
import type { Secret } from './secret.ts';
import { deriveKey, signToken, verifyToken } from './signed-token.ts';

export type EventTicket = {
  readonly ownerUserId: string;
  /** The named service key that created the ticket; the ticket ends with it. */
  readonly serviceKeyId?: string;
};

/** `expires`: in seconds since 1970. */
export function issueEventTicket(secrets: readonly Secret[], ticket: EventTicket, expires: number): string {
  const [root] = secrets;
  if (!root) throw new Error('no URL signing secret');
  return signToken(deriveKey(root, 'events'), `${expires}:${JSON.stringify(ticket)}`);
}

type VerifiedEventTicket = EventTicket | 'invalid' | 'expired';

export function verifyEventTicket(
  secrets: readonly Secret[],
  text: string,
  nowSeconds: number,
): VerifiedEventTicket {
  const keys = secrets.map((root) => deriveKey(root, 'events'));
  const payload = verifyToken(keys, text);
  if (payload === undefined) return 'invalid';
  if (Number.parseInt(payload, 10) <= nowSeconds) return 'expired';
  return JSON.parse(payload.slice(payload.indexOf(':') + 1)) as EventTicket;
}
