// Holds a caller to the version that it saw (contract B2).
import { ServiceError } from '../platform/errors.ts';
import type { Asset } from '../assets/asset.ts';

/** `If-Match` names the version, in quotes; `*` any (not the ETag, which changes with every change). */
export function assertVersion({ version }: Asset, ifMatch: string | undefined): void {
  if (ifMatch === undefined) return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (tags.includes('*') || tags.includes(`"${version}"`)) return;
  throw new ServiceError('PRECONDITION_FAILED', 'The asset has another version by now', {
    details: { field: 'If-Match', version },
  });
}
