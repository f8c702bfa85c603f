// Common settings of hosted providers, and URLs on their hosts.
import type { PlayUrls } from '../../assets/playback-manifest.ts';
import { type Setting, url } from '../../platform/settings/setting.ts';

/** A host name, or a URL with a scheme for a proxy or a simulator. */
export const host = (name: string, about: string): Setting<string | undefined> => ({
  name,
  type: 'text',
  about,
  byDefault: 'not set',
  allowed: 'a host name, or an http or https URL',
  parse({ given }, report) {
    if (given !== undefined && !(HOST.test(given) && URL.canParse(originOf(given))))
      report(`${name} must be a host name, or an http or https URL`);
    return given;
  },
});

/** The address of the provider's API, without a trailing slash. */
export const apiAddress = (name: string, byDefault: string): Setting<string> => {
  const setting = url(name, 'Address of the API.', `\`${byDefault}\``);
  return { ...setting, parse: (texts, report) => setting.parse(texts, report) ?? byDefault };
};

const HOST = /^(?:https?:\/\/)?(?:\[[\da-f:.]+\]|[^\s/?#@:[\]]+)(?::\d+)?(?:\/[^\s?#]*)?$/i;

/** Base URL of a host, without a trailing slash. */
export const originOf = (host: string): string =>
  (/^https?:\/\//.test(host) ? host : `https://${host}`).replace(/\/+$/, '');

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
