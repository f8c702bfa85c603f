// Reasons for which a request is refused: its members and URLs, and erasures of owners.

/** `details.reason`, also of each entry of `details.errors`. */
export const REQUEST_REASONS = {
  required: { codes: ['BAD_REQUEST'], description: '`field` is missing.' },
  invalid_type: { codes: ['BAD_REQUEST'], description: '`field` has another JSON type than it must have.' },
  invalid_value: { codes: ['BAD_REQUEST'], description: '`field` has an invalid value.' },
  unsupported_value: { codes: ['BAD_REQUEST'], description: '`field` is not one of `allowed`.' },
  below_minimum: {
    codes: ['BAD_REQUEST'],
    description: 'The number, or the length of the text or list, is below `limit`.',
  },
  above_maximum: {
    codes: ['BAD_REQUEST'],
    description: 'The number, or the length of the text or list, is above `limit`.',
  },
  unknown_member: {
    codes: ['BAD_REQUEST'],
    description:
      'The operation does not know the member or parameter `field`. Only PATCH and requests with ' +
      '`Prefer: handling=strict` are refused for it.',
  },
  not_with_preset: {
    codes: ['BAD_REQUEST'],
    description: '`field` cannot stand beside `preset`, which says it already.',
  },
  upload_token_bounds: {
    codes: ['BAD_REQUEST', 'FORBIDDEN'],
    description: 'The upload token does not allow this request, file or asset.',
  },
  upload_token_used_up: {
    codes: ['FORBIDDEN'],
    description: 'The upload token has created as many uploads (`limit`) as it may.',
  },
  url_invalid: { codes: ['BAD_REQUEST'], description: '`url` is not an absolute URL.' },
  url_scheme: { codes: ['BAD_REQUEST'], description: 'The scheme of `url` is neither http nor https.' },
  url_credentials: { codes: ['BAD_REQUEST'], description: '`url` contains a user name or password.' },
  url_port: { codes: ['BAD_REQUEST'], description: 'The service does not send requests to this port.' },
  url_private_address: { codes: ['BAD_REQUEST'], description: 'The address of `url` is not public.' },
  too_many_to_sort: {
    codes: ['BAD_REQUEST'],
    description: 'More than `limit` assets pass the filters. Longer lists are sorted by `created_at` alone.',
  },
  source_refused: {
    codes: ['BAD_REQUEST'],
    description:
      '`source` is not below a place of `ADOPT_SOURCES`, belongs to the service, or is a symbolic link.',
  },
  source_unreadable: {
    codes: ['BAD_REQUEST'],
    description: '`source` does not exist, is archived, or the service has no right to read it.',
  },
  external_id_taken: {
    codes: ['CONFLICT'],
    description: 'Another asset of the owner has this `external_id`.',
  },
  too_many_collections: {
    codes: ['CONFLICT'],
    description: 'The owner has `limit` collections. Delete one first.',
  },
  collection_full: {
    codes: ['CONFLICT'],
    description: 'The collection would have more than `limit` assets, those in the trash included.',
  },
  not_in_collection: {
    codes: ['CONFLICT'],
    description: 'The asset of `field` is not in the collection. Read its list again.',
  },
  other_owner: {
    codes: ['BAD_REQUEST'],
    description: 'The asset `asset_id` has another owner than the collection.',
  },
  rule_not_enforceable: {
    codes: ['BAD_REQUEST'],
    description:
      'The service cannot hold the access rule `field`: the video plays from other hosts, or the setting ' +
      '`COUNTRY_HEADER` is missing.',
  },
  referrer_not_allowed: {
    codes: ['FORBIDDEN'],
    description: 'The access rules of the asset do not allow the site, or the request names none.',
  },
  network_not_allowed: {
    codes: ['FORBIDDEN'],
    description: 'The access rules of the asset do not allow the address of the viewer.',
  },
  country_not_allowed: {
    codes: ['FORBIDDEN'],
    description: 'The access rules of the asset do not allow the country of the viewer, or it is not known.',
  },
  downloads_not_allowed: {
    codes: ['FORBIDDEN'],
    description: 'The access rules of the asset forbid downloads, unless with the service key.',
  },
  owner_is_being_erased: {
    codes: ['CONFLICT'],
    description:
      'An operator erases everything of this owner. Nothing can be created until that is completed.',
  },
  erasure_not_completed: {
    codes: ['CONFLICT'],
    description: 'The erasure still runs; its receipt comes when it is completed.',
  },
} as const;
