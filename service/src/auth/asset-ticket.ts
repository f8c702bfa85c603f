// Signed upload and download tickets for the URLs of originals (contract B4, B5).
import type { Secret } from './secret.ts';
import { deriveKey, verifyToken, type Purpose, signToken } from './signed-token.ts';

type Kind = Extract<Purpose, 'upload' | 'download'>;

/**
 * `expires` is in seconds since 1970. A ticket with a `playbackVersion` becomes invalid when the asset's version changes, for example by a deletion.
 * An upload ticket belongs to an `attempt`; one without it, as earlier releases signed them, to the first.
 */
type Ticket = {
  readonly assetId: string;
  readonly expires: number;
  readonly playbackVersion?: number;
  readonly attempt?: number;
};

export function issueTicket(
  secrets: readonly Secret[],
  kind: Kind,
  { assetId, expires, playbackVersion, attempt }: Ticket,
): string {
  const [root] = secrets;
  if (!root) throw new Error('no URL signing secret');
  const bound = playbackVersion ?? attempt;
  const version = bound === undefined ? '' : `:${bound}`;
  return signToken(deriveKey(root, kind), `${expires}:${assetId}${version}`);
}

type PresentedTicket = {
  readonly ticket: string;
  readonly assetId: string;
  readonly now: number;
  /** Omitted: a ticket of any version is valid. */
  readonly playbackVersion?: number;
  /** Omitted: a ticket of any attempt is good. */
  readonly attempt?: number;
};

/** True when the ticket is valid for this asset and has not expired. */
export function isValidTicket(
  secrets: readonly Secret[],
  kind: Kind,
  { ticket, assetId, now, playbackVersion, attempt }: PresentedTicket,
): boolean {
  const payload = verifyToken(
    secrets.map((root) => deriveKey(root, kind)),
    ticket,
  );
  const [expires, id, version] = payload?.split(':') ?? [];
  return (
    id === assetId.toLowerCase() &&
    Number(expires) > now &&
    (playbackVersion === undefined || version === String(playbackVersion)) &&
    (attempt === undefined || Number(version ?? 1) === attempt)
  );
}
