// Access rules that callers set for an asset: their normal form, and what follows from them (contract B11).
import { COUNTRY_CODES } from '@mediary/contract/country-codes';
import type { AccessRules } from '@mediary/contract/schemas/assets/access-rules';
import { isByCookie } from '../auth/tickets/playback-cookie.ts';
import { assertEach, badRequest, type ServiceError } from '../platform/http/errors.ts';
import { parseNetwork } from '../platform/values/networks.ts';
import type { Asset } from './asset.ts';

type Ruled = Pick<Asset, 'access'>;

/** Whether the rules depend on who sends a request. */
export const hasViewerRules = (access: Ruled['access']): boolean =>
  access !== null &&
  (access.referrers !== undefined || access.networks !== undefined || access.countries !== undefined);

export const allowsDownloads = ({ access }: Ruled): boolean => access?.downloads !== false;

/** Whether the URL alone does not open what it names. `token`: that of its path. */
export const isCheckedPerRequest = (
  asset: Pick<Asset, 'visibility' | 'access'>,
  token: string | undefined,
): boolean => isByCookie(asset, token) || hasViewerRules(asset.access);

/** `Cache-Control` of what is checked per request: the next user of a cache must not get it unchecked. */
export const CHECKED_PER_REQUEST = 'private, no-cache';

/** Null for rules that restrict nothing. Throws BAD_REQUEST with every invalid member. */
export function parseAccess(given: AccessRules | null | undefined): AccessRules | null {
  const { referrers, networks, countries, downloads, allow_no_referrer: allowsNone } = given ?? {};
  assertEach([
    () => parseList('referrers', referrers, parseSite),
    () => parseList('networks', networks, parseNetworkEntry),
    () => parseList('countries', countries, parseCountry),
    () => assertReferrers(referrers, allowsNone),
  ]);
  const access: AccessRules = {
    ...(referrers && { referrers: parseList('referrers', referrers, parseSite) }),
    ...(allowsNone === true && { allow_no_referrer: true }),
    ...(networks && { networks: parseList('networks', networks, parseNetworkEntry) }),
    ...(countries && { countries: parseList('countries', countries, parseCountry) }),
    ...(downloads === false && { downloads }),
  };
  return Object.keys(access).length > 0 ? access : null;
}

type ListName = 'referrers' | 'networks' | 'countries';
type ParseEntry = (entry: string, field: string) => string;

const parseList = (name: ListName, given: readonly string[] | undefined, parse: ParseEntry): string[] => [
  ...new Set(given?.map((entry, index) => parse(entry, `access.${name}.${index}`))),
];

function assertReferrers(referrers: readonly string[] | undefined, allowsNone: boolean | undefined): void {
  if (allowsNone === true && !referrers)
    throw badRequest('access.allow_no_referrer needs access.referrers, and has no effect without them', {
      field: 'access.allow_no_referrer',
      reason: 'invalid_value',
    });
}

const SITE = /^(\*\.)?([^\s/?#@:\\*[\]]+)(?::(\d{1,5}))?$/;
/** What a policy of content security may contain. */
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;

function parseSite(entry: string, field: string): string {
  const [, wildcard = '', name = '', port] = SITE.exec(entry) ?? [];
  const url = `http://${name}${port === undefined ? '' : `:${port}`}`;
  const { hostname, port: named } = URL.canParse(url) ? new URL(url) : { hostname: '', port: '' };
  if (!HOST.test(hostname)) throw invalidSite(entry, field);
  return `${wildcard}${hostname}${named === '' || named === '443' ? '' : `:${named}`}`;
}

const invalidSite = (entry: string, field: string): ServiceError =>
  badRequest(
    `${field} ${JSON.stringify(entry)} is not a site. Give a host name without a scheme and a path, ` +
      'such as www.example.com, *.example.com or localhost:3000.',
    { field, reason: 'invalid_value' },
  );

function parseNetworkEntry(entry: string, field: string): string {
  const network = parseNetwork(entry);
  if (network !== undefined) return network;
  throw badRequest(
    `${field} ${JSON.stringify(entry)} is not an address or network. Give IPv4 or IPv6 such as ` +
      '203.0.113.0/24, 203.0.113.7 or 2001:db8::/32.',
    { field, reason: 'invalid_value' },
  );
}

function parseCountry(entry: string, field: string): string {
  const code = entry.toUpperCase();
  if (COUNTRY_CODES.includes(code)) return code;
  throw badRequest(
    `${field} ${JSON.stringify(entry)} is not a country. Give codes of ISO 3166-1 alpha-2 such as DE or GB.`,
    { field, reason: 'unsupported_value', allowed: COUNTRY_CODES },
  );
}

type Enforcement = {
  /** Whether players load the asset from other hosts. */
  readonly isElsewhere: boolean;
  readonly provider: string | null;
  /** Whether the proxy of the operator names the countries of viewers. */
  readonly knowsCountries: boolean;
};

/** Throws BAD_REQUEST for a rule that the service could not hold. */
export function assertEnforceable(access: Ruled['access'], by: Enforcement): void {
  if (!access) return;
  const field = (['referrers', 'networks', 'countries'] as const).find((name) => access[name]);
  if (field && by.isElsewhere)
    throw notEnforceable(
      `access.${field}`,
      `Videos of provider ${by.provider} play from its own hosts, where the service cannot hold ` +
        `access.${field}. Set such rules there; only access.downloads can be set here.`,
    );
  if (access.countries && !by.knowsCountries)
    throw notEnforceable(
      'access.countries',
      'The service does not know the countries of viewers: the operator has not set COUNTRY_HEADER. ' +
        'Omit access.countries.',
    );
}

const notEnforceable = (field: string, message: string): ServiceError =>
  badRequest(message, { field, reason: 'rule_not_enforceable' });
