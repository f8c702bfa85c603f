// Optimistic locking: rejects a change that is based on an outdated asset (contract B2).
import { createHash } from 'node:crypto';
import type { Asset } from '../assets/asset.ts';
import { ServiceError } from '../platform/http/errors.ts';

const DETAILS = /\+[\da-f]{8}"$/;

/** Adds what is shown beside the row: collections, expected times. `If-Match` does not guard them. */
export const addDetails = (etag: string, details: readonly string[]): string =>
  details.length === 0
    ? etag
    : etag.replace(/"$/, `+${createHash('sha256').update(details.join()).digest('hex').slice(0, 8)}"`);

type MatchRequest = {
  /** The request header; undefined accepts any version. */
  readonly ifMatch: string | undefined;
  readonly etagOf: () => string;
};

/**
 * `If-Match` carries the version in quotes, the ETag of GET, or `*`. The ETag changes with every change, the
 * version only with those of callers. A proxy that compresses responses makes ETags weak.
 */
export function assertVersion(asset: Asset, { ifMatch, etagOf }: MatchRequest): void {
  if (ifMatch === undefined) return;
  const { version } = asset;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (tags.includes('*') || tags.includes(`"${version}"`)) return;
  const etag = etagOf();
  if (tags.some((tag) => tag.replace(/^W\//, '').replace(DETAILS, '"') === etag)) return;
  throw new ServiceError(
    'PRECONDITION_FAILED',
    `The asset has changed: its version is ${version} now. Read it again, then send If-Match with its ` +
      `ETag, or "${version}".`,
    { details: { field: 'If-Match', version } },
  );
}
