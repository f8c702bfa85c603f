// Reasons for which a member, parameter or URL of a request is refused.

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
} as const;
