// Decides which URLs and addresses an outbound request may reach, so that callers cannot probe private
// networks.
import { isIP } from 'node:net';
import type { ErrorReason } from '@mediary/contract/errors';
import { classifyAddress } from './private-address.ts';

/** Why a URL is refused; `private_address` covers every address that is not public. */
export type AddressRefusal =
  | 'invalid_url'
  | 'scheme'
  | 'credentials'
  | 'port'
  | 'private_address'
  | 'downgrade';

/** `details.reason` of a refused URL. */
export const URL_REASONS = {
  invalid_url: 'url_invalid',
  scheme: 'url_scheme',
  credentials: 'url_credentials',
  port: 'url_port',
  private_address: 'url_private_address',
  downgrade: 'url_scheme',
} as const satisfies Readonly<Record<AddressRefusal, ErrorReason>>;

export type AddressPolicy = {
  /** Whether private and loopback addresses may be reached. Metadata services and reserved networks never. */
  readonly allowPrivate: boolean;
};

export type ParsedUrl = { readonly url: URL } | { readonly refused: AddressRefusal };

/** Longer than the signed URLs of object stores. */
const MAX_URL_LENGTH = 8192;
/** Ports that browsers refuse as well (Fetch Standard, "bad port"): their services do not speak HTTP. */
const BAD_PORTS = new Set(
  [
    [0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103],
    [104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514],
    [515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723],
    [2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
  ].flat(),
);

/**
 * Parses an absolute URL. Hosts that are addresses, in any notation, are checked here, names after they are
 * resolved.
 */
export function parseOutboundUrl(text: string, policy: AddressPolicy): ParsedUrl {
  return text.length > MAX_URL_LENGTH || /\p{Cc}/u.test(text)
    ? { refused: 'invalid_url' }
    : checkUrl(URL.parse(text), policy);
}

/** Parses the `Location` of a redirect. */
export function parseRedirect(
  location: string,
  { from, policy }: { from: URL; policy: AddressPolicy },
): ParsedUrl {
  if (location.length > MAX_URL_LENGTH) return { refused: 'invalid_url' };
  const parsed = checkUrl(URL.parse(location, from.href), policy);
  const isDowngrade = 'url' in parsed && from.protocol === 'https:' && parsed.url.protocol === 'http:';
  return isDowngrade ? { refused: 'downgrade' } : parsed;
}

function checkUrl(url: URL | null, policy: AddressPolicy): ParsedUrl {
  if (url === null) return { refused: 'invalid_url' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { refused: 'scheme' };
  if (url.username !== '' || url.password !== '') return { refused: 'credentials' };
  if (url.port !== '' && BAD_PORTS.has(Number(url.port))) return { refused: 'port' };
  const address = addressOf(url);
  if (address !== undefined && !isAllowedAddress(address, policy)) return { refused: 'private_address' };
  return { url };
}

/**
 * The host of a parsed URL where it is an address: the parser has normalised octal, hexadecimal and short
 * forms.
 */
export function addressOf({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

export function isAllowedAddress(address: string, { allowPrivate }: AddressPolicy): boolean {
  const addressClass = classifyAddress(address);
  return addressClass === 'public' || (allowPrivate && addressClass === 'private');
}
