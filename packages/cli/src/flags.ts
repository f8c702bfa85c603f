// What the SDK and the API call their options and members, in the words of the command.

const FLAGS = new Map<unknown, string>([
  ['baseUrl', '--url'],
  ['expiresAt', '--expires-at'],
  ['externalId', '--external-id'],
  ['filename', '--filename'],
  ['mimeType', '--mime-type'],
  ['ownerUserId', '--owner'],
  ['serviceKey', '--service-key'],
  ['token', '--token'],
]);

const FLAGS_OF_MEMBERS = new Map<unknown, string>([
  ['access.allow_no_referrer', '--allow-no-referrer'],
  ['access.countries', '--allow-country'],
  ['access.networks', '--allow-network'],
  ['access.referrers', '--allow-site'],
  ['created_after', '--after'],
  ['created_before', '--before'],
  ['cursor', '--cursor'],
  ['end_ms', '--end'],
  ['expires_at', '--expires-at'],
  ['expires_before', '--expires-before'],
  ['expires_in', '--expires'],
  ['external_id', '--external-id'],
  ['filename', '--filename'],
  ['focal_point', '--focal-point'],
  ['chapters', '--chapters'],
  ['kinds', '--kind'],
  ['limit', '--limit'],
  ['max_bytes', '--max-size'],
  ['max_uploads', '--max-uploads'],
  ['metadata', '--metadata'],
  ['mime_type', '--mime-type'],
  ['mime_types', '--mime-type'],
  ['provider', '--provider'],
  ['q', '--search'],
  ['start_ms', '--start'],
  ['stream_status', '--status'],
  ['tag', '--tag'],
  ['tags', '--tag'],
  ['title', '--title'],
]);

/** Replaces options that are quoted in a message of the SDK. */
export const toFlags = (message: string): string =>
  message.replaceAll(/`(\w+)`/g, (whole, name: string) => FLAGS.get(name) ?? whole);

/** The flag that sets a member of a request, or an entry of it such as `access.referrers.0`. */
export const findFlag = (member: unknown): string | undefined =>
  FLAGS_OF_MEMBERS.get(typeof member === 'string' ? member.replace(/\.\d+$/, '') : member);
