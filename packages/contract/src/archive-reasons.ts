// Reasons for which an archive of an owner, or an asset in it, is not imported.

/** `details.reason` of a refused import, and `code` in its report. */
export const ARCHIVE_REASONS = {
  archive_invalid: {
    codes: ['BAD_REQUEST'],
    description:
      'The archive is not one that `GET /api/v1/admin/owners/{owner_user_id}/export` has written, or it ' +
      'was damaged or changed.',
  },
  archive_truncated: {
    codes: ['BAD_REQUEST'],
    description: 'The archive ends early. Send the whole archive again: whole assets are kept.',
  },
  archive_too_large: {
    codes: ['PAYLOAD_TOO_LARGE'],
    description:
      'The archive is larger than `OWNER_IMPORT_MAX_BYTES`, or has more assets than ' +
      '`OWNER_IMPORT_MAX_ASSETS`.',
  },
  archive_other_owner: {
    codes: ['BAD_REQUEST'],
    description: 'The archive, or an asset in it, belongs to another owner than the path.',
  },
  asset_invalid: {
    codes: ['BAD_REQUEST'],
    description: 'The files of the asset in the archive do not have the form that an export writes.',
  },
  no_original: {
    codes: ['BAD_REQUEST'],
    description: 'The archive has no original of the asset that this service can process.',
  },
  asset_id_taken: {
    codes: ['CONFLICT'],
    description: 'Another owner has an asset with this id.',
  },
  asset_differs: {
    codes: ['CONFLICT'],
    description: 'The owner has an asset with this id and another original.',
  },
  asset_deleted: {
    codes: ['CONFLICT'],
    description: 'The asset was deleted for good on this service, which does not use its id again.',
  },
} as const;
