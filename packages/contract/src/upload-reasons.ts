// Reasons for which an upload in several requests is refused.

/** `details.reason`. */
export const UPLOAD_REASONS = {
  already_uploaded: { codes: ['CONFLICT'], description: 'The bytes of this asset are stored already.' },
  offset_mismatch: {
    codes: ['CONFLICT'],
    description: 'The resumable upload has another offset. Continue at the one that HEAD returns.',
  },
  unknown_partial: {
    codes: ['BAD_REQUEST'],
    description: '`Upload-Concat` names an upload that is no partial upload of this asset and attempt.',
  },
  partial_incomplete: {
    codes: ['BAD_REQUEST'],
    description: 'A partial upload has not all its bytes. Send them, then create the final upload again.',
  },
  final_upload: {
    codes: ['FORBIDDEN'],
    description: 'A final upload has the bytes of its partial uploads, and takes no others.',
  },
  part_size_mismatch: {
    codes: ['BAD_REQUEST'],
    description: 'The part must have `expected` bytes: all parts but the last have the size in the target.',
  },
  missing_parts: {
    codes: ['BAD_REQUEST'],
    description:
      'Parts have not arrived; `missing` lists the first 100. Send them, then complete the upload.',
  },
  part_changed: {
    codes: ['BAD_REQUEST'],
    description: 'The store has another `ETag` of the part `PartNumber`. List the parts.',
  },
  upload_in_progress: {
    codes: ['CONFLICT'],
    description: 'Another request is uploading this asset. Try again after `Retry-After`.',
  },
} as const;
