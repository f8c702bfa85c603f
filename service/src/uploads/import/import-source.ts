// Finds the file name and the media type of an imported file in the response that delivers it (contract B4).
import { isUtf8 } from 'node:buffer';
import { findMediaType, type MediaType, parseMimeEssence } from '@mediary/media-rules/media-type';
import { isFilename } from '../upload-request.ts';

/** Header values as Node decodes them (Latin-1); null: not sent. `url`: after redirects. */
type ImportResponse = {
  readonly url: string;
  readonly contentDisposition: string | null;
  readonly contentType: string | null;
};

export type ImportSource = {
  /** Within the limits of the API's `filename`. */
  readonly filename: string;
  /** Undefined: the response names no type that is allowed. */
  readonly mediaType: MediaType | undefined;
};

const MAX_NAME_LENGTH = 255;
/** What servers send when they do not know the type. */
const GENERIC_TYPES = new Set(['application/octet-stream', 'binary/octet-stream', 'application/binary']);

export function describeSource(response: ImportResponse, allowed: readonly MediaType[]): ImportSource {
  const name =
    toFilename(filenameOf(response.contentDisposition ?? '')) ?? toFilename(lastSegment(response.url));
  const mediaType = chooseMediaType(response.contentType, name ?? '', allowed);
  return { filename: name ?? (mediaType ? `import.${mediaType.extension}` : 'import'), mediaType };
}

/** A missing or generic type falls back to the extension; `complete` verifies the bytes in both cases. */
function chooseMediaType(
  contentType: string | null,
  name: string,
  allowed: readonly MediaType[],
): MediaType | undefined {
  const type = contentType?.trim() ?? '';
  if (type !== '' && !GENERIC_TYPES.has(parseMimeEssence(type) ?? '')) return findMediaType(type, allowed);
  const extension = EXTENSION.exec(name)?.[1]?.toLowerCase() ?? '';
  const wanted = EXTENSION_ALIASES.get(extension) ?? extension;
  return allowed.find((type) => type.extension === wanted);
}

const EXTENSION = /\.([a-z0-9]{1,8})$/i;
const EXTENSION_ALIASES: ReadonlyMap<string, string> = new Map([
  ['jpeg', 'jpg'],
  ['jpe', 'jpg'],
  ['m4v', 'mp4'],
  ['qt', 'mov'],
  ['m2ts', 'ts'],
  ['mts', 'ts'],
  ['mpeg', 'mpg'],
]);

/** One parameter: a token, or a quoted string with escapes (RFC 6266, RFC 9110). */
const PARAMETER = /;[\t ]*([\w!#$&+.^`|~-]+\*?)[\t ]*=[\t ]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

/** `filename*` wins over `filename`; of repeated parameters the first counts. */
function filenameOf(disposition: string): string | undefined {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, token = ''] of `;${disposition}`.matchAll(PARAMETER)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? token;
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  return decodeExtended(found.get('filename*')) ?? decodeUtf8(found.get('filename'));
}

/** RFC 8187: `UTF-8''na%C3%AFve.mp4`. Undefined when it cannot be decoded, so that the plain name counts. */
function decodeExtended(value = ''): string | undefined {
  const [, charset = '', encoded = ''] = /^([\w-]+)'[\w-]*'(.*)$/.exec(value) ?? [];
  if (!/^(?:utf-8|iso-8859-1)$/i.test(charset)) return undefined;
  const bytes = percentDecode(encoded);
  if (charset.toLowerCase() === 'iso-8859-1') return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** Servers write UTF-8 into `filename`, which Node decodes as Latin-1. Real Latin-1 stays as it is. */
function decodeUtf8(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

function percentDecode(text: string): Buffer {
  const bytes = text.replace(/%([\da-f]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}

/** URLs hold ASCII only. */
function lastSegment(url: string): string {
  const segment = URL.parse(url)?.pathname.split('/').at(-1) ?? '';
  return percentDecode(segment).toString('utf8');
}

/** Undefined: nothing is left that could be a name. */
function toFilename(text = ''): string | undefined {
  // A name must not be a path on any system.
  const base = text.split(/[/\\]/).at(-1) ?? '';
  const clean = base
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  const name = shorten(clean);
  return isFilename(name) && !/^\.+$/.test(name) ? name : undefined;
}

/** Keeps the extension. */
function shorten(name: string): string {
  const characters = [...name];
  if (characters.length <= MAX_NAME_LENGTH) return name;
  const extension = EXTENSION.exec(name)?.[0] ?? '';
  return characters.slice(0, MAX_NAME_LENGTH - extension.length).join('') + extension;
}
