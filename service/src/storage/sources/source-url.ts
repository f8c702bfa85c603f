// Parses the sources of adoptions: `s3://<bucket>/<key>` or `file:///<path>`, below ADOPT_SOURCES.
import { storeRoots } from '../object-key.ts';
import { SourceError } from '../object-store.ts';
import type { S3Location } from '../storage-url.ts';

export type SourceScheme = 's3' | 'file';

/** Where sources may lie, and what belongs to the service. */
type SourceRules = {
  readonly scheme: SourceScheme;
  /** `<bucket>/`, `<bucket>/<prefix>/` or `/<folder>/`. */
  readonly allowed: readonly string[];
  /** The same, for the objects and other data of the service. */
  readonly own: readonly string[];
};

/** `name`: `<bucket>/<key>` or an absolute path. `below`: the allowed place that it is in. */
type SourceName = { readonly name: string; readonly below: string };

const FORMS = { s3: 's3://<bucket>/<key>', file: 'file:///<path>' } as const;
const START = { s3: 's3://', file: 'file://' } as const;
const MAX_NAME_BYTES = 4096;

/** Throws SourceError. Percent signs are escapes, as `toSourceUrl` of the command writes them. */
export function parseSource(url: string, { scheme, allowed, own }: SourceRules): SourceName {
  const name = url.startsWith(START[scheme]) ? decode(url.slice(START[scheme].length)) : undefined;
  if (name === undefined || !isPlainName(name, scheme))
    throw new SourceError(
      'source_invalid',
      `source must be ${FORMS[scheme]}, percent-encoded, of at most ${MAX_NAME_BYTES} bytes, without empty ` +
        'segments, "." and ".."',
    );
  const below = allowed.find((place) => name.startsWith(place));
  if (below === undefined)
    throw new SourceError('source_refused', 'source is not below a place of ADOPT_SOURCES');
  assertForeign(name, own);
  return { name, below };
}

/** Throws SourceError for what belongs to the service: its objects are the originals of other assets. */
export function assertForeign(name: string, own: readonly string[]): void {
  if (own.some((place) => name.startsWith(place)))
    throw new SourceError(
      'source_refused',
      'source belongs to the service itself, which stores assets there',
    );
}

/** For a source that is gone; throws all other errors. */
export function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof SourceError) || error.reason !== 'source_missing') throw error;
}

/**
 * The name of a place of ADOPT_SOURCES, with a slash at its end: `s3://films/2024` becomes `films/2024/`.
 * Undefined if it has another form.
 */
export function parseSourcePlace(url: string): { scheme: SourceScheme; name: string } | undefined {
  const scheme = url.startsWith(START.s3) ? 's3' : 'file';
  const text = url.startsWith(START[scheme]) ? decode(url.slice(START[scheme].length)) : undefined;
  const name = text?.replace(/\/*$/, '');
  if (name === undefined || !isPlainName(scheme === 's3' ? `${name}/key` : name, scheme)) return undefined;
  return { scheme, name: `${name}/` };
}

/** With a prefix, all below it; else the roots of the store, beside which an operator may have keys. */
export const ownBucketPlaces = ({ bucket, prefix }: Pick<S3Location, 'bucket' | 'prefix'>): string[] =>
  prefix === '' ? [...storeRoots(), 'health/'].map((root) => `${bucket}/${root}`) : [`${bucket}/${prefix}`];

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

function isPlainName(name: string, scheme: SourceScheme): boolean {
  const [first = '', ...others] = name.split('/');
  const isStart = scheme === 's3' ? BUCKET.test(first) : first === '';
  return (
    isStart &&
    others.length > 0 &&
    others.every((segment) => segment !== '' && segment !== '.' && segment !== '..') &&
    Buffer.byteLength(name) <= MAX_NAME_BYTES &&
    !/\p{Cc}/u.test(name)
  );
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
