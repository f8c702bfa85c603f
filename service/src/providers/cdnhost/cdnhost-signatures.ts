// Signatures of cdnhost: webhooks, direct uploads and playback tokens (contract A5, B5, B6).
import { createHash } from 'node:crypto';
import type { Secret } from '../../auth/secret.ts';
import { equalHex, type HeaderValues, hmacSha256 } from '../../auth/signature.ts';

/** Our neutral header name, and the name that the compatible product sends. */
const HEADERS = ['x-cdnhost-signature', 'x-bunnystream-signature'];

/** HMAC-SHA256 of the raw body with the library's read-only key. Every header value must be valid. */
export function checkCdnhostSignature(
  headers: HeaderValues,
  body: Uint8Array,
  secrets: readonly Secret[],
): boolean {
  const all = (suffix: string) => HEADERS.flatMap((name) => headers(name + suffix));
  const signatures = all('');
  return (
    signatures.length > 0 &&
    all('-version').every((version) => version === 'v1') &&
    all('-algorithm').every((algorithm) => algorithm === 'hmac-sha256') &&
    secrets.some(({ key }) => signatures.every((signature) => equalHex(signature, hmacSha256(key, body))))
  );
}

/** Formats the value of the signature header. */
export const signCdnhost = (body: Uint8Array, secret: Secret): string =>
  hmacSha256(secret.key, body).toString('hex');

/** `expires` is in seconds since 1970. */
type DirectUpload = {
  readonly libraryId: string;
  readonly apiKey: Secret;
  readonly expires: number;
  readonly videoId: string;
};

/** Authorizes an upload of a browser to one video until `expires`. */
export const signDirectUpload = ({ libraryId, apiKey, expires, videoId }: DirectUpload): string =>
  createHash('sha256').update(`${libraryId}${apiKey.reveal()}${expires}${videoId}`).digest('hex');

/** `folder` starts and ends with a slash. `expires` is in seconds since 1970. */
type FolderToken = { readonly key: Secret; readonly folder: string; readonly expires: number };

/** One token covers all files of a folder. */
export const createFolderToken = ({ key, folder, expires }: FolderToken): string =>
  `HS256-${hmacSha256(key.key, folder, String(expires), `token_path=${folder}`).toString('base64url')}`;

/** The token is in the path, because relative URLs keep the path but not the query. */
export const signFolder = (token: FolderToken): string =>
  `/bcdn_token=${createFolderToken(token)}` +
  `&token_path=${encodeURIComponent(token.folder)}&expires=${token.expires}${token.folder}`;
