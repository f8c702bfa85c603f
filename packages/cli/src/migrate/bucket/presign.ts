// Presigns GET requests to a bucket with Signature Version 4: a few lines instead of an S3 client.
import { createHmac, hash } from 'node:crypto';
import type { BucketLocation } from './bucket-location.ts';

export type BucketCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
};

type Signer = {
  readonly location: BucketLocation;
  readonly credentials: BucketCredentials;
  readonly now: Date;
};

type RequestToSign = {
  /** Empty: the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly expiresInS: number;
};

export function presignGet({ location, credentials, now }: Signer, request: RequestToSign): string {
  const { origin, host, path } = toAddress(location);
  const pathname = path + request.key.split('/').map(escapeText).join('/');
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${location.region}/s3/aws4_request`;
  const query = toQuery({
    ...request.query,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${credentials.accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(request.expiresInS),
    ...(credentials.sessionToken && { 'X-Amz-Security-Token': credentials.sessionToken }),
    'X-Amz-SignedHeaders': 'host',
  });
  const canonical = `GET\n${pathname}\n${query}\nhost:${host}\n\nhost\nUNSIGNED-PAYLOAD`;
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', canonical)}`;
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`);
  return `${origin}${pathname}?${query}&X-Amz-Signature=${hmac(key, toSign).toString('hex')}`;
}

function toAddress({ bucket, region, endpoint, isPathStyle }: BucketLocation) {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const { protocol, host } = new URL(endpoint ?? `https://s3.${region}.${domain}`);
  const { origin, host: own } = new URL(`${protocol}//${isPathStyle ? host : `${bucket}.${host}`}`);
  return { origin, host: own, path: isPathStyle ? `/${bucket}/` : '/' };
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const toQuery = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${escapeText(value)}`)
    .join('&');

/** RFC 3986; `encodeURIComponent` leaves five reserved characters. */
const escapeText = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
