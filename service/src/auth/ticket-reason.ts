// Finds the `details.reason` of a 401 for a rejected signed URL or playback token.
import type { Secret } from './secret.ts';
import { deriveKey, verifyToken, type Purpose } from './signed-token.ts';

type RejectedToken = {
  readonly purpose: Extract<Purpose, 'upload' | 'download' | 'playback'>;
  readonly token: string;
  /** Seconds since 1970. */
  readonly now: number;
};

/** Returns `expired` only for tokens with a valid signature. Every signed payload starts with its expiry time. */
export function ticketReason(
  secrets: readonly Secret[],
  { purpose, token, now }: RejectedToken,
): 'missing' | 'invalid' | 'expired' {
  if (token === '') return 'missing';
  const payload = verifyToken(
    secrets.map((root) => deriveKey(root, purpose)),
    token,
  );
  return payload !== undefined && Number.parseInt(payload, 10) <= now ? 'expired' : 'invalid';
}
