// Common settings of hosted providers, and URLs on their hosts.
import type { PlayUrls } from '../assets/playback-manifest.ts';
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
  const value = text(name);
  return value === undefined ? undefined : toSecret(value);
}

/** Names of the settings without a value. */
export const listMissing = (settings: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(settings)
    .filter(([, value]) => value === undefined || (Array.isArray(value) && value.length === 0))
    .map(([name]) => name);

/** Replaces the first occurrence in every URL that contains it. */
export function replaceInUrls(
  { hls, dash, thumbnail }: PlayUrls,
  part: string,
  replacement: string,
): PlayUrls {
  const replace = (url: string | null) => url?.replace(part, () => replacement) ?? null;
  return { hls: replace(hls), dash: replace(dash), thumbnail: replace(thumbnail) };
}
