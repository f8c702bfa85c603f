// Optimistic locking: rejects a change that is based on an outdated version (contract B2).
import type { Asset } from '../assets/asset.ts';
import { ServiceError } from '../platform/errors.ts';

/** `If-Match` carries quoted versions, or `*` for any version; not the ETag, which changes more often. */
export function assertVersion({ version }: Asset, ifMatch: string | undefined): void {
  if (ifMatch === undefined) return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (tags.includes('*') || tags.includes(`"${version}"`)) return;
  throw new ServiceError(
    'PRECONDITION_FAILED',
    `The asset has version ${version} now. Read it again and send If-Match: "${version}".`,
    { details: { field: 'If-Match', version } },
  );
}
