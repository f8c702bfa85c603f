// Signed upload and download tickets for the URLs of originals (contract B4, B5).
import type { Secret } from '../secret.ts';
import { type Purpose, deriveKey, verifyToken, signToken } from '../signed-token.ts';

/** `relay` opens the creation of an upload at a hosted provider, and nothing of our store. */
type Kind = Extract<Purpose, 'upload' | 'relay' | 'download'>;

/**
 * `expires` is in seconds since 1970. A ticket with a `playbackVersion` is invalid when that version has
 * changed, for example by a deletion.
 */
type Ticket = {
  readonly assetId: string;
  readonly expires: number;
  readonly playbackVersion?: number;
  readonly attempt?: number;
  /** Of a service key: access rules do not hold for it. Needs a `playbackVersion`. */
  readonly isForService?: boolean;
};

export function issueTicket(
  secrets: readonly Secret[],
  kind: Kind,
  { assetId, expires, playbackVersion, attempt, isForService = false }: Ticket,
): string {
  const [root] = secrets;
  if (!root) throw new Error('no URL signing secret');
  const bound = playbackVersion ?? attempt;
  const version = bound === undefined ? '' : `:${bound}`;
  return signToken(deriveKey(root, kind), `${expires}:${assetId}${version}${isForService ? SERVICE : ''}`);
}

const SERVICE = ':service';

type PresentedTicket = {
  readonly ticket: string;
  readonly assetId: string;
  readonly now: number;
  /** Omitted: tickets of every version are valid. */
  readonly playbackVersion?: number;
  /** Omitted: tickets of every attempt are valid. */
  readonly attempt?: number;
  /** True: only tickets of service keys are valid. */
  readonly isForService?: boolean;
};

/** True when the ticket is valid for this asset and has not expired. */
export function isValidTicket(
  secrets: readonly Secret[],
  kind: Kind,
  { ticket, assetId, now, playbackVersion, attempt, isForService = false }: PresentedTicket,
): boolean {
  const payload = verifyToken(
    secrets.map((root) => deriveKey(root, kind)),
    ticket,
  );
  const [expires, id, version] = payload?.split(':') ?? [];
  return (
    id === assetId.toLowerCase() &&
    Number(expires) > now &&
    (!isForService || payload?.endsWith(SERVICE) === true) &&
    (playbackVersion === undefined || version === String(playbackVersion)) &&
    (attempt === undefined || version === String(attempt))
  );
}

type RejectedToken = {
  readonly purpose: Kind | 'playback';
  readonly token: string;
  /** Seconds since 1970. */
  readonly now: number;
};

/**
 * The `details.reason` of a 401 for a rejected URL or token: `expired` only for a valid signature. Every
 * signed payload starts with its expiry time.
 */
export function ticketReason(
  secrets: readonly Secret[],
  { purpose, token, now }: RejectedToken,
): 'missing' | 'invalid_credential' | 'expired' {
  if (token === '') return 'missing';
  const payload = verifyToken(
    secrets.map((root) => deriveKey(root, purpose)),
    token,
  );
  return payload !== undefined && Number.parseInt(payload, 10) <= now ? 'expired' : 'invalid_credential';
}
