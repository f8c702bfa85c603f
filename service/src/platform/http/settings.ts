// Settings of the HTTP listener, and of requests to and from this service.
import { isIP } from 'node:net';
import { outboundAllowPrivate } from '../outbound/settings.ts';
import { choice, integer, list, optionalInteger, rate, text, url } from '../settings/setting.ts';

/**
 * Addresses and networks whose X-Forwarded-For is trusted; undefined: none. A number of hops would also trust
 * direct clients.
 */
export type TrustedProxies = readonly string[] | undefined;

export const HTTP_SETTINGS = {
  title: 'HTTP',
  settings: {
    port: integer('PORT', 'Port of the HTTP listener; 0 chooses a free one.', {
      fallback: 8080,
      min: 0,
      max: 65_535,
    }),
    host: text('HOST', 'Address of the HTTP listener.', '127.0.0.1'),
    healthPort: optionalInteger(
      'HEALTH_PORT',
      'Every process serves `/healthz`, `/readyz`, `/metrics` on this port of `HOST` without credentials.',
      { byDefault: 'not served', min: 0, max: 65_535 },
    ),
    publicBaseUrl: url(
      'PUBLIC_BASE_URL',
      'Base of every URL that the service returns; the Host header is not used.',
      '`http://127.0.0.1:<port>`',
    ),
    corsOrigins: list(
      'CORS_ORIGINS',
      'Origins of web pages that may call the API, or `*`; playback allows every origin.',
      { byDefault: 'none', parse: parseOrigins },
    ),
    trustProxy: list(
      'TRUST_PROXY',
      'Addresses or networks of your proxies, whose `X-Forwarded-For` is trusted.',
      {
        byDefault: 'none',
        allowed: 'addresses, networks such as `10.0.0.0/8`, `loopback`, `linklocal`, `uniquelocal`',
        parse: parseProxies,
      },
    ),
    ratePerOwner: rate(
      'RATE_LIMIT_PER_OWNER',
      'Requests of one owner, counted across all processes; further ones get 429.',
    ),
    ratePerAddress: rate(
      'RATE_LIMIT_PER_ADDRESS',
      'Requests from one address, counted across all processes; further ones get 429.',
    ),
    maxConnections: integer('MAX_CONNECTIONS', 'Open connections; further ones are closed at once.', {
      fallback: 4096,
      min: 1,
      max: 1_000_000,
    }),
    outboundAllowPrivate,
    console: choice('CONSOLE', '`off` removes the console at `/console` and its sessions.', {
      choices: ['on', 'off'],
      fallback: 'on',
    }),
    docs: choice(
      'DOCS',
      '`off` removes the pages below `/docs` and `/llms.txt`; the OpenAPI document is still served.',
      {
        choices: ['on', 'off'],
        fallback: 'on',
      },
    ),
  },
};

const EVERYONE = /\/0+$/;
const NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

function parseProxies(named: readonly string[], report: (problem: string) => void): TrustedProxies {
  if (named.length === 0) return undefined;
  const everyone = named.find((network) => EVERYONE.test(network));
  if (everyone !== undefined) {
    report(
      `TRUST_PROXY: ${everyone} would trust the X-Forwarded-For of every client. ` +
        'List the networks of your proxies, such as 10.0.0.0/8, or uniquelocal for all private ones',
    );
    return undefined;
  }
  if (named.every(isNetwork)) return named;
  report(
    'TRUST_PROXY must list the addresses or networks of your proxies, such as 10.0.0.0/8, ' +
      `or ${NETWORKS.join(', ')}`,
  );
  return undefined;
}

function isNetwork(given: string): boolean {
  if (NETWORKS.includes(given)) return true;
  const [address = '', bits, ...more] = given.split('/');
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const hasValidBits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits);
  return maxBits > 0 && hasValidBits && more.length === 0;
}

function parseOrigins(named: readonly string[], report: (problem: string) => void): readonly string[] {
  return named.map((given) => {
    if (given === '*') return given;
    if (ORIGIN.test(given) && URL.canParse(given)) return toOrigin(new URL(given));
    report(
      `CORS_ORIGINS: "${given}" is not an origin. ` +
        'Give scheme and host without a path, such as https://app.example.com, or *',
    );
    return given;
  });
}

/** As browsers send it: in lower case, without a default port. `origin` is `null` for schemes of apps. */
const toOrigin = ({ protocol, host }: URL): string => `${protocol}//${host}`;

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/i;
