// Parses settings from environment variables and collects all problems, so that they are reported together.
import { isIP } from 'node:net';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Each method reads one setting. For an invalid value it adds to `problems` and returns a fallback. */
export type Settings = {
  readonly problems: string[];
  /** Names of the settings that were read so far. */
  readonly names: ReadonlySet<string>;
  /** An empty value counts as unset. */
  text(name: string): string | undefined;
  /** A secret and its `…_PREVIOUS`, which stays valid during a rotation; the current secret first. */
  rotating(name: string): readonly string[];
  integer(
    name: string,
    range: { readonly fallback: number; readonly min: number; readonly max: number },
  ): number;
  oneOf<const T extends string>(name: string, choices: readonly T[], fallback: T): T;
  /** Comma-separated. */
  list(name: string): readonly string[];
  /** An http or https URL; trailing slashes are removed. */
  url(name: string): string | undefined;
};

export function createSettings(environment: Environment): Settings {
  const problems: string[] = [];
  const names = new Set<string>();
  const text = (name: string) => {
    names.add(name);
    return environment[name]?.trim() || undefined;
  };
  return {
    problems,
    names,
    text,
    rotating: (name) => [text(name), text(`${name}_PREVIOUS`)].filter((value) => value !== undefined),
    integer(name, { fallback, min, max }) {
      const given = text(name);
      const value = given === undefined ? fallback : Number(given);
      if (Number.isInteger(value) && value >= min && value <= max) return value;
      problems.push(`${name} must be a whole number from ${min} to ${max}`);
      return fallback;
    },
    oneOf(name, choices, fallback) {
      const given = text(name) ?? fallback;
      const chosen = choices.find((choice) => choice === given);
      if (chosen === undefined) problems.push(`${name} must be one of ${choices.join(', ')}`);
      return chosen ?? fallback;
    },
    list: (name) =>
      (text(name) ?? '')
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
    url(name) {
      const given = text(name);
      if (given === undefined) return undefined;
      if (!/^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/.test(given) || !URL.canParse(given))
        problems.push(`${name} must be an http or https URL without query or user name`);
      return given.replace(/\/+$/, '');
    },
  };
}

export type RateLimit = { readonly limit: number; readonly windowSeconds: number };

const RATE = /^(\d{1,7})\/(\d{0,5})(s|m|h)$/;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const MAX_WINDOW = 86_400;

/** Parses `100/10s` or `1000/m`; undefined: no limit. */
export function readRate({ text, problems }: Settings, name: string): RateLimit | undefined {
  const given = text(name);
  if (given === undefined) return undefined;
  const [, count, units, unit = ''] = RATE.exec(given) ?? [];
  const limit = Number(count);
  const windowSeconds = (units === '' ? 1 : Number(units)) * (SECONDS[unit] ?? Number.NaN);
  if (limit >= 1 && windowSeconds >= 1 && windowSeconds <= MAX_WINDOW) return { limit, windowSeconds };
  problems.push(`${name} must be a number of requests per time of at most 24h, such as 100/10s or 1000/m`);
  return undefined;
}

/** Undefined: no limit. */
export function readLimit({ text, integer }: Settings, name: string): number | undefined {
  if (text(name) === undefined) return undefined;
  return integer(name, { fallback: 1, min: 1, max: Number.MAX_SAFE_INTEGER });
}

/**
 * Addresses and networks whose X-Forwarded-For is trusted; undefined: none. A number of hops would also trust
 * direct clients.
 */
export type TrustedProxies = readonly string[] | undefined;

const NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

export function readTrustProxy({ text, list, problems }: Settings): TrustedProxies {
  const given = text('TRUST_PROXY');
  if (given === undefined) return undefined;
  const named = list('TRUST_PROXY');
  if (named.length > 0 && named.every(isNetwork)) return named;
  problems.push(
    'TRUST_PROXY must list the addresses or networks of your proxies, such as 10.0.0.0/8, ' +
      `or ${NETWORKS.join(', ')}`,
  );
  return undefined;
}

function isNetwork(text: string): boolean {
  if (NETWORKS.includes(text)) return true;
  const [address = '', bits, ...more] = text.split('/');
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const hasValidBits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits);
  return maxBits > 0 && hasValidBits && more.length === 0;
}
