// Signed upload and download tickets for the URLs of originals (contract B4, B5).
import type { Secret } from './secret.ts';
import { deriveKey, verifyToken, type Purpose, signToken } from './signed-token.ts';

type Kind = Extract<Purpose, 'upload' | 'download'>;

/** `expires` is in seconds since 1970. A ticket with a `playbackVersion` becomes invalid when the asset's version changes, for example by a deletion. */
type Ticket = {
  readonly assetId: string;
  readonly expires: number;
  readonly playbackVersion?: number;
};

export function issueTicket(
  secrets: readonly Secret[],
  kind: Kind,
  { assetId, expires, playbackVersion }: Ticket,
): string {
  const [root] = secrets;
  if (!root) throw new Error('no URL signing secret');
  const version = playbackVersion === undefined ? '' : `:${playbackVersion}`;
  return signToken(deriveKey(root, kind), `${expires}:${assetId}${version}`);
}

type PresentedTicket = {
  readonly ticket: string;
  readonly assetId: string;
  readonly now: number;
  /** Omitted: a ticket of any version is valid. */
  readonly playbackVersion?: number;
};

/** True when the ticket is valid for this asset and has not expired. */
export function isValidTicket(
  secrets: readonly Secret[],
  kind: Kind,
  { ticket, assetId, now, playbackVersion }: PresentedTicket,
): boolean {
  const payload = verifyToken(
    secrets.map((root) => deriveKey(root, kind)),
    ticket,
  );
  const [expires, id, version] = payload?.split(':') ?? [];
  return (
    id === assetId.toLowerCase() &&
    Number(expires) > now &&
    (playbackVersion === undefined || version === String(playbackVersion))
  );
}
