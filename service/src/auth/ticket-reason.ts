// Tells why a signed URL or a playback token was rejected, for the `details.reason` of its 401.
import type { Secret } from './secret.ts';
import { deriveKey, verifyToken, type Purpose } from './signed-token.ts';

type Rejected = {
  readonly purpose: Extract<Purpose, 'upload' | 'download' | 'playback'>;
  readonly token: string;
  /** Seconds since 1970. */
  readonly now: number;
};

/** Every signed payload starts with its expiry; `expired` is said only of one that the service signed itself. */
export function ticketReason(
  secrets: readonly Secret[],
  { purpose, token, now }: Rejected,
): 'missing' | 'invalid' | 'expired' {
  if (token === '') return 'missing';
  const payload = verifyToken(
    secrets.map((root) => deriveKey(root, purpose)),
    token,
  );
  return payload !== undefined && Number.parseInt(payload, 10) <= now ? 'expired' : 'invalid';
}
