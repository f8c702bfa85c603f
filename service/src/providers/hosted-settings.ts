// Parses the common settings of hosted providers: hosts and secrets.
import { type Secret, toSecret } from '../auth/secret.ts';

type Settings = { readonly problems: string[]; text(name: string): string | undefined };

/** A host name, or a URL with a scheme for a proxy or a simulator. */
export function readHost({ text, problems }: Settings, name: string): string | undefined {
  const host = text(name);
  if (host !== undefined && !(HOST.test(host) && URL.canParse(originOf(host))))
    problems.push(`${name} must be a host name, or an http or https URL`);
  return host;
}

const HOST = /^(?:https?:\/\/)?(?:\[[\da-f:.]+\]|[^\s/?#@:[\]]+)(?::\d+)?(?:\/[^\s?#]*)?$/i;

/** Base URL of a host, without a trailing slash. */
export const originOf = (host: string): string =>
  (/^https?:\/\//.test(host) ? host : `https://${host}`).replace(/\/+$/, '');

export function readSecret({ text }: Settings, name: string): Secret | undefined {
  const given = text(name);
  return given === undefined ? undefined : toSecret(given);
}

/** Names of the missing settings. */
export const missingOf = (given: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(given)
    .filter(([, value]) => value === undefined || (Array.isArray(value) && value.length === 0))
    .map(([name]) => name);
