// Ids of uploads that are not recorded before their bytes are stored. They follow from the asset and its
// attempt, so that the service finds such an upload again without a row.
import { hash } from 'node:crypto';

/** The attempt of an asset that the upload belongs to. */
type UploadAttempt = { readonly id: string; readonly attempt: number };

/** The upload that a presigned PUT writes. */
export const presignedUploadId = (attempt: UploadAttempt): string => deriveId('presigned', attempt);

/** The upload to a hosted provider; it goes to the latest video that is linked in the attempt. */
export const hostedUploadId = (attempt: UploadAttempt): string => deriveId('hosted', attempt);

/** The first PUT of a small file, which is stored before it is recorded. */
export const smallPutUploadId = (attempt: UploadAttempt): string => deriveId('whole', attempt);

function deriveId(kind: 'presigned' | 'hosted' | 'whole', { id, attempt }: UploadAttempt): string {
  const hex = hash('sha256', `${kind} upload ${id.toLowerCase()} ${attempt}`);
  // RFC 9562, version 8: the other bits are the application's.
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
