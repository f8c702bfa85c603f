// Parses an `s3:` STORAGE_URL: bucket, region, endpoint, addressing style and key prefix.

/** Where a bucket is, and how the service and its clients address it. */
export type S3Location = {
  readonly bucket: string;
  readonly region: string;
  /** Undefined: Amazon S3. */
  readonly endpoint: string | undefined;
  /** The address in presigned URLs, when clients reach the store by another one than the service. */
  readonly publicEndpoint: string | undefined;
  /** Whether clients can reach the store; otherwise all bytes pass through the service. */
  readonly direct: boolean;
  /** `https://host/bucket/key` instead of `https://bucket.host/key`. */
  readonly pathStyle: boolean;
  /** Empty, or ends in a slash. */
  readonly prefix: string;
};

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9][a-z0-9-]{0,62}$/;
const PREFIX = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*\/?$/;
export const isBucket = (name: string): boolean => BUCKET.test(name);
export const isPrefix = (text: string): boolean => PREFIX.test(text);
const ENDPOINT = /^https?:\/\/[^/?#@]+\/?$/;
const BOOLEAN = /^(?:true|false)$/;
const PARAMETERS = ['region', 'endpoint', 'public_endpoint', 'path_style', 'direct', 'prefix'];
/** The region that S3-compatible stores expect in signatures unless they are configured otherwise. */
const DEFAULT_REGION = 'us-east-1';
const FORM =
  's3://<bucket>?region=<region>[&endpoint=<https://host>][&public_endpoint=<https://host>]' +
  '[&path_style=true|false][&direct=true|false][&prefix=<folder>]';

/** Reports one message that names every problem. */
export function parseS3Url(text: string, report: (problem: string) => void): S3Location | undefined {
  if (!URL.canParse(text)) {
    report(`STORAGE_URL is not a URL. Expected ${FORM}`);
    return undefined;
  }
  const url = new URL(text);
  const found = problemsOf(url);
  if (found.length > 0) {
    report(`STORAGE_URL is invalid: ${found.join('; ')}. Expected ${FORM}`);
    return undefined;
  }
  return toLocation(url);
}

function toLocation({ hostname, searchParams: query }: URL): S3Location {
  const endpoint = query.get('endpoint')?.replace(/\/$/, '');
  const pathStyle = query.get('path_style');
  const prefix = query.get('prefix') ?? '';
  return {
    bucket: hostname,
    region: query.get('region') ?? DEFAULT_REGION,
    endpoint,
    publicEndpoint: query.get('public_endpoint')?.replace(/\/$/, '') ?? endpoint,
    direct: query.get('direct') !== 'false',
    pathStyle: pathStyle === null ? endpoint !== undefined : pathStyle === 'true',
    prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`,
  };
}

function problemsOf(url: URL): string[] {
  const query = url.searchParams;
  const isInvalid = (name: string, form: RegExp) => {
    const value = query.get(name);
    return value !== null && !(form.test(value) && (form !== ENDPOINT || URL.canParse(value)));
  };
  const found: [isWrong: boolean, words: string][] = [
    [!BUCKET.test(url.hostname), 'the bucket must have 3 to 63 lower-case letters, digits, dots or hyphens'],
    [
      url.username !== '' || url.password !== '',
      'credentials do not belong into the URL; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    ],
    [url.port !== '' || !['', '/'].includes(url.pathname), 'after the bucket only a query may follow'],
    [!query.has('region') && !query.has('endpoint'), 'region is missing'],
    [isInvalid('region', REGION), 'region must be a name such as eu-central-1'],
    [isInvalid('endpoint', ENDPOINT), 'endpoint must be an http or https URL without a path'],
    [isInvalid('public_endpoint', ENDPOINT), 'public_endpoint must be an http or https URL without a path'],
    [isInvalid('path_style', BOOLEAN), 'path_style must be true or false'],
    [isInvalid('direct', BOOLEAN), 'direct must be true or false'],
    [
      isInvalid('prefix', PREFIX),
      'prefix may contain letters, digits, dots, hyphens, underscores and slashes',
    ],
    ...[...new Set(query.keys())].map((name): [boolean, string] => [
      !PARAMETERS.includes(name),
      `${name} is not a parameter`,
    ]),
  ];
  return found.filter(([isWrong]) => isWrong).map(([, words]) => words);
}
