// Parses the URL of a bucket: `s3://<bucket>?region=<region>&endpoint=<https://host>&prefix=<text>`.
import { usageError } from '../../exit-codes.ts';

export type BucketLocation = {
  readonly bucket: string;
  readonly region: string;
  /** Undefined: Amazon S3. */
  readonly endpoint: string | undefined;
  /** `https://host/bucket/key` instead of `https://bucket.host/key`. */
  readonly isPathStyle: boolean;
  /** Start of the keys. */
  readonly prefix: string;
};

const PARAMETERS = ['region', 'endpoint', 'path_style', 'prefix'];
const FORM =
  's3://<bucket>?region=<region>[&endpoint=<https://host>][&path_style=true|false][&prefix=<text>]';

/** The parameters of STORAGE_URL; the prefix is any text. Throws a usage error. */
export function parseBucketUrl(text: string): BucketLocation {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const problem = url ? findProblem(url) : 'it is no URL';
  if (!url || problem !== undefined) throw usageError(`--bucket is invalid: ${problem}.`, `Expected ${FORM}`);
  const { hostname, searchParams: query } = url;
  const endpoint = query.get('endpoint')?.replace(/\/$/, '');
  const pathStyle = query.get('path_style');
  return {
    bucket: hostname,
    region: query.get('region') ?? 'us-east-1',
    endpoint,
    isPathStyle: pathStyle === null ? endpoint !== undefined : pathStyle === 'true',
    prefix: query.get('prefix') ?? '',
  };
}

function findProblem({ protocol, hostname, username, port, pathname, searchParams: query }: URL) {
  const endpoint = query.get('endpoint');
  const unknown = [...query.keys()].find((name) => !PARAMETERS.includes(name));
  if (protocol !== 's3:') return 'it does not start with s3://';
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(hostname)) return 'the name of the bucket is invalid';
  if (username) return 'credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
  if (port || !['', '/'].includes(pathname)) return 'after the bucket only parameters may follow';
  if (unknown !== undefined) return `${unknown} is no parameter`;
  if (endpoint === null) return query.has('region') ? undefined : 'region is missing';
  return /^https?:\/\/[^/?#@]+\/?$/.test(endpoint) && URL.canParse(endpoint)
    ? undefined
    : 'endpoint must be an http or https URL without a path';
}
