// The right to write one original or to read it back, signed into a URL (contract B4, B5).
import type { Secret } from './secret.ts';
import { deriveKey, verifyToken, type Purpose, signToken } from './signed-token.ts';

type Kind = Extract<Purpose, 'upload' | 'download'>;

/** `expires` in seconds since 1970. A ticket with a `playbackVersion` ends when the asset's is raised: by a deletion, for one. */
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

type Presented = {
  readonly ticket: string;
  readonly assetId: string;
  readonly now: number;
  /** Omitted: a ticket of any version is good. */
  readonly playbackVersion?: number;
};

/** Whether the ticket opens this asset now. */
export function isValidTicket(
  secrets: readonly Secret[],
  kind: Kind,
  { ticket, assetId, now, playbackVersion }: Presented,
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
