// The four signatures of cdnhost: webhook v1, presigned upload, directory token and embed token.
import { createHash, createHmac } from 'node:crypto';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** `key` is the library's read-only key. */
export const webhookSignature = (key: string, body: string) =>
  createHmac('sha256', key).update(body).digest('hex');

type Presign = {
  readonly libraryId: string;
  readonly apiKey: string;
  readonly expires: string;
  readonly video: string;
};
export const presignature = ({ libraryId, apiKey, expires, video }: Presign) =>
  sha256(libraryId + apiKey + expires + video);

type TokenClaims = {
  readonly key: string;
  /** `token_path` if present, otherwise the path of the URL. */
  readonly path: string;
  readonly expires: string;
  readonly parameters: URLSearchParams;
};
export function cdnToken({ key, path, expires, parameters }: TokenClaims): string {
  const signed = [...parameters]
    .filter(([name]) => name !== 'token' && name !== 'expires')
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const data = signed.map(([name, value]) => `${name}=${value}`).join('&');
  return `HS256-${createHmac('sha256', key)
    .update(path + expires + data)
    .digest('base64url')}`;
}

export const embedToken = (key: string, video: string, expires: string) => sha256(key + video + expires);
