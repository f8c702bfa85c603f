// The title of a video at cdnhost ends with the id of its asset, so that videos which were linked to no asset can be told from a stranger's.
import { isUuid } from '../../platform/uuid.ts';

const MARK = /\[mediary:([0-9a-f-]{36})\]$/i;

/** The product names no longest title; with this one it is shorter than 255 characters. */
const LONGEST_NAME = 200;

export const titleOf = ({
  filename,
  assetId,
}: {
  readonly filename: string;
  readonly assetId: string;
}): string => `${filename.slice(0, LONGEST_NAME).toWellFormed()} [mediary:${assetId}]`;

/** Undefined for a title that is not ours. */
export function assetIdIn(title: unknown): string | undefined {
  const id = typeof title === 'string' ? MARK.exec(title.trimEnd())?.[1] : undefined;
  return id !== undefined && isUuid(id) ? id : undefined;
}
