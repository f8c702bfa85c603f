// The right to write one original or to read it back, signed into a URL (contract B4, B5).
import type { Secret } from './secret.ts';
import { deriveKey, open, type Purpose, sign } from './signed-token.ts';

type Kind = Extract<Purpose, 'upload' | 'download'>;

/** Good for one asset until a time in seconds since 1970. */
export function issueTicket(
  secrets: readonly Secret[],
  kind: Kind,
  { assetId, expires }: { assetId: string; expires: number },
): string {
  const [root] = secrets;
  if (!root) throw new Error('no URL signing secret');
  return sign(deriveKey(root, kind), `${expires}:${assetId}`);
}

/** Whether the ticket opens this asset now. */
export function isTicketGood(
  secrets: readonly Secret[],
  kind: Kind,
  { ticket, assetId, now }: { ticket: string; assetId: string; now: number },
): boolean {
  const payload = open(
    secrets.map((root) => deriveKey(root, kind)),
    ticket,
  );
  if (payload === undefined) return false;
  const colon = payload.indexOf(':');
  return payload.slice(colon + 1) === assetId.toLowerCase() && Number(payload.slice(0, colon)) > now;
}
