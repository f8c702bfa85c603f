// Decides by the access rules of an asset whether a viewer may have its files (contract B5, B11).
import type { AccessRules } from '@mediary/contract/schemas/assets/access-rules';
import type { ErrorReason } from '@mediary/contract/errors';
import { hasViewerRules } from '../assets/access-rules.ts';
import type { PlaybackAsset } from '../assets/asset.ts';
import { forbidden } from '../platform/http/errors.ts';
import { isInNetworks } from '../platform/values/networks.ts';

/** Who sends a request, as far as rules ask for it. */
export type Viewer = {
  /** Of `Origin` and `Referer`, with ports other than 80 and 443; empty for one that is no site. */
  readonly sites: readonly string[];
  readonly address: string;
  /** Undefined: not known. */
  readonly country: string | undefined;
};

type DenialReason = Extract<
  ErrorReason,
  'referrer_not_allowed' | 'network_not_allowed' | 'country_not_allowed'
>;

/** Undefined: every rule allows the viewer. `ownSite`: the service, whose embed page loads files too. */
export function findDenial(access: AccessRules, viewer: Viewer, ownSite: string): DenialReason | undefined {
  if (access.referrers && !isReferrerAllowed(access, viewer.sites, ownSite)) return 'referrer_not_allowed';
  if (access.networks && !isInNetworks(access.networks, viewer.address)) return 'network_not_allowed';
  if (access.countries && !access.countries.includes(viewer.country ?? '')) return 'country_not_allowed';
  return undefined;
}

function isReferrerAllowed(
  { referrers = [], allow_no_referrer: allowsNone = false }: AccessRules,
  sites: readonly string[],
  ownSite: string,
): boolean {
  if (sites.length === 0) return allowsNone;
  return sites.every((site) => site === ownSite || referrers.some((allowed) => matchesSite(allowed, site)));
}

/** `*.example.com` stands for subdomains, as in a policy of content security. */
const matchesSite = (allowed: string, site: string): boolean =>
  allowed.startsWith('*.')
    ? site.endsWith(allowed.slice(1)) && site.length > allowed.length - 1
    : site === allowed;

/** The parts of a request and its response that the rules use. */
type ViewerExchange = {
  readonly request: {
    readonly headers: {
      readonly [name: string]: string | string[] | undefined;
      readonly cookie?: string | undefined;
      readonly origin?: string | undefined;
      readonly referer?: string | undefined;
    };
    readonly ip: string;
    /** The addresses of the client and of each trusted proxy. */
    readonly ips?: readonly string[];
  };
  readonly reply: { readonly header: (name: string, value: string) => unknown };
};
type ViewerSettings = {
  readonly publicBaseUrl: () => string;
  /** In lower case; undefined: countries are not known. */
  readonly countryHeader: string | undefined;
};

/** Throws FORBIDDEN with the reason. */
export function assertViewerAllowed(
  settings: ViewerSettings,
  { access }: Pick<PlaybackAsset, 'access'>,
  { request, reply }: ViewerExchange,
): void {
  if (!access || !hasViewerRules(access)) return;
  // Redirects and the embed page must send on the site, but never the path, which may contain a token.
  if (access.referrers) reply.header('referrer-policy', 'strict-origin');
  const reason = findDenial(access, readViewer(settings, request), toSite(settings.publicBaseUrl()));
  if (reason) throw forbidden(DENIALS[reason], { reason });
}

const DENIALS: Readonly<Record<DenialReason, string>> = {
  referrer_not_allowed:
    'The access rules of the asset do not allow the site that Origin and Referer name, or the request ' +
    'names none.',
  network_not_allowed: 'The access rules of the asset do not allow the address of the viewer.',
  country_not_allowed:
    'The access rules of the asset do not allow the country of the viewer, or it is not known.',
};

const readViewer = (
  { countryHeader }: ViewerSettings,
  { headers, ip, ips }: ViewerExchange['request'],
): Viewer => ({
  sites: [headers.origin, headers.referer].flatMap((url) => (url ? [toSite(url)] : [])),
  address: ip,
  // A client that bypasses the trusted proxies could name any country.
  country:
    countryHeader !== undefined && (ips ?? []).length > 1 ? toCountry(headers[countryHeader]) : undefined,
});

const toCountry = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' ? value.trim().toUpperCase() : undefined;

/** Empty for `null`, and for pages of apps. */
function toSite(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return '';
  const { hostname, port } = new URL(url);
  return port === '' || port === '80' || port === '443' ? hostname : `${hostname}:${port}`;
}

/** The sites as sources of `frame-ancestors`: a source with `http` allows `https` too. */
export const toFrameAncestors = (referrers: readonly string[]): string =>
  ["'self'", ...referrers.map((site) => `http://${site}`)].join(' ');
