// Settings of sources, which have the names that the service uses for its providers.
import type { Environment } from '../../context.ts';
import { usageError } from '../../exit-codes.ts';

export function requireVariable(env: Environment, name: string): string {
  const value = env[name];
  if (value) return value;
  throw usageError(
    `${name} is not set.`,
    'The guide lists the settings of each source: docs/guides/migrate.md',
  );
}

/** Of a host name, or an http or https URL. */
export function toOrigin(host: string): string {
  const url = /^https?:\/\//.test(host) ? host : `https://${host}`;
  if (!URL.canParse(url)) throw usageError(`"${host}" is no host name.`);
  return new URL(url).origin;
}
