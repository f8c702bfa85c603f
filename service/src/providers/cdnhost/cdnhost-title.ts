// Titles of cdnhost videos end with the asset id, so that unlinked videos of this service can be identified.
import { isUuid } from '../../platform/uuid.ts';

const MARK = /\[mediary:([0-9a-f-]{36})\]$/i;

/** cdnhost documents no maximum; this limit keeps the title below 255 characters. */
const LONGEST_NAME = 200;

export const titleOf = ({
  filename,
  assetId,
}: {
  readonly filename: string;
  readonly assetId: string;
}): string => `${filename.slice(0, LONGEST_NAME).toWellFormed()} [mediary:${assetId}]`;

/** Undefined for a title of another origin. */
export function assetIdIn(title: unknown): string | undefined {
  const id = typeof title === 'string' ? MARK.exec(title.trimEnd())?.[1] : undefined;
  return id !== undefined && isUuid(id) ? id : undefined;
}
