// The access rules of an asset: who may play it, and whether it may be downloaded.
import { type Static, Type } from 'typebox';
import { COUNTRY_CODES } from '../../country-codes.ts';

const MAX_SITES = 20;
const MAX_NETWORKS = 20;

export const AccessRules = Type.Object(
  {
    referrers: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 260 }), {
        minItems: 1,
        maxItems: MAX_SITES,
        description:
          'Sites whose pages may play or show the asset, by the `Origin` and `Referer` of each request. ' +
          'Host names without a scheme; with a port other than 80 and 443. `*.example.com` stands for ' +
          'all subdomains of `example.com`, but not for `example.com` itself. Pages of the service ' +
          'itself are always allowed.',
        examples: [['www.example.com', '*.example.org']],
      }),
    ),
    allow_no_referrer: Type.Optional(
      Type.Boolean({
        description:
          'With `referrers` only. True: also requests that name no site, as native apps send them, and ' +
          'browsers on pages with `Referrer-Policy: no-referrer`. Default: they are refused.',
      }),
    ),
    networks: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 49 }), {
        minItems: 1,
        maxItems: MAX_NETWORKS,
        description: 'Addresses and networks (CIDR) of viewers, IPv4 or IPv6.',
        examples: [['203.0.113.0/24', '2001:db8::/32']],
      }),
    ),
    countries: Type.Optional(
      Type.Array(Type.String({ minLength: 2, maxLength: 2 }), {
        minItems: 1,
        maxItems: COUNTRY_CODES.length,
        description:
          'Countries of viewers, ISO 3166-1 alpha-2. Only where the operator has set `COUNTRY_HEADER`.',
        examples: [['DE', 'AT', 'CH']],
      }),
    ),
    downloads: Type.Optional(
      Type.Boolean({
        description:
          'False: there are no MP4 and M4A files, and only a service key gets a download URL. Default: true.',
      }),
    ),
  },
  {
    $id: 'AccessRules',
    additionalProperties: false,
    description:
      'Who may play or show the asset. A request must meet every rule that is set. The rules hold for ' +
      'manifests, segments, keys, images, frames, captions, the embed page and downloads; not for the JSON ' +
      'API.',
    examples: [{ referrers: ['www.example.com'], countries: ['DE', 'AT', 'CH'], downloads: false }],
  },
);
export type AccessRules = Static<typeof AccessRules>;
