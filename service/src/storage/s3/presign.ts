// Presigns S3 requests with Signature Version 4, including the length, type and SHA-256 of a body.
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { S3Location } from '../storage-url.ts';

type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
};

/**
 * The SDK's own presigner signs no body. `headers` are signed: a request without them, or with other values,
 * is refused by the store.
 */
export type RequestToSign = {
  readonly method: 'GET' | 'PUT';
  readonly key: string;
  /** Names that start with a lower-case letter and need no escapes, such as `partNumber`. */
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly expiresInSeconds: number;
};

type Signer = { readonly location: S3Location; readonly credentials: Credentials; readonly now: Date };

const UNSIGNED = 'UNSIGNED-PAYLOAD';
/** The limit of Signature Version 4: seven days. */
export const MAX_EXPIRY_SECONDS = 604_800;

export function presign({ location, credentials, now }: Signer, request: RequestToSign): string {
  const { origin, host, path } = addressOf(location);
  const pathname = `${path}${request.key}`;
  const time = compactTime(now);
  const scope = `${time.slice(0, 8)}/${location.region}/s3/aws4_request`;
  const headers: Record<string, string> = { ...request.headers, host };
  const names = Object.keys(headers).sort();
  const signedNames = names.join(';');
  const query =
    'X-Amz-Algorithm=AWS4-HMAC-SHA256' +
    `&X-Amz-Credential=${escaped(`${credentials.accessKeyId}/${scope}`)}` +
    `&X-Amz-Date=${time}&X-Amz-Expires=${request.expiresInSeconds}` +
    (credentials.sessionToken ? `&X-Amz-Security-Token=${escaped(credentials.sessionToken)}` : '') +
    `&X-Amz-SignedHeaders=${escaped(signedNames)}${toQuery(request.query)}`;
  const canonical =
    `${request.method}\n${pathname}\n${query}\n` +
    names.map((name) => `${name}:${headers[name]}\n`).join('') +
    `\n${signedNames}\n${headers['x-amz-content-sha256'] ?? UNSIGNED}`;
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', canonical)}`;
  return `${origin}${pathname}?${query}&X-Amz-Signature=${sign(credentials, scope, toSign)}`;
}

/** `20130524T000000Z` */
function compactTime(now: Date): string {
  const iso = now.toISOString();
  return `${iso.slice(0, 4)}${iso.slice(5, 7)}${iso.slice(8, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}Z`;
}

/** The address of a bucket for clients. Keys contain only characters that need no escapes. */
type BucketAddress = { readonly origin: string; readonly host: string; readonly path: string };

/** Parsing URLs took a third of the time of a signature. */
const addresses = new WeakMap<S3Location, BucketAddress>();

function addressOf(location: S3Location): BucketAddress {
  const known = addresses.get(location);
  if (known) return known;
  const { bucket, region, publicEndpoint, pathStyle } = location;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const { protocol, host: endpoint } = new URL(publicEndpoint ?? `https://s3.${region}.${domain}`);
  const { origin, host } = new URL(`${protocol}//${pathStyle ? endpoint : `${bucket}.${endpoint}`}`);
  const address = { origin, host, path: pathStyle ? `/${bucket}/` : '/' };
  addresses.set(location, address);
  return address;
}

const sign = (credentials: Credentials, scope: string, text: string): string =>
  createHmac('sha256', signingKeyOf(credentials, scope)).update(text).digest('hex');

type SigningKey = { readonly secret: string; readonly scope: string; readonly key: KeyObject };
let latestKey: SigningKey | undefined;

/** Valid for a day. Deriving it takes longer than all the rest; a KeyObject signs faster than bytes do. */
function signingKeyOf({ secretAccessKey: secret }: Credentials, scope: string): KeyObject {
  if (latestKey?.secret === secret && latestKey.scope === scope) return latestKey.key;
  const key = scope.split('/').reduce<string | Buffer>((above, part) => hmac(above, part), `AWS4${secret}`);
  latestKey = { secret, scope, key: createSecretKey(key as Buffer) };
  return latestKey.key;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** In the order of the names. All follow those of the signature, which start with a capital. */
const toQuery = (parameters: Readonly<Record<string, string>> = {}): string =>
  Object.entries(parameters)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `&${name}=${escaped(value)}`)
    .join('');

/** RFC 3986; `encodeURIComponent` leaves five reserved characters. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
