// Lets others send the bytes of segments: the object store, by redirects of players to presigned URLs, or the
// web server in front of the service, by internal redirects (contract B5).
import type { ObjectKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { contentTypeOf } from './served-file.ts';

/**
 * Who sends the bytes of segments. `redirect`: the S3 store. `x-accel-redirect` and `x-sendfile`: the web
 * server in front of the service, from the files of the disk store.
 */
export type SegmentDelivery = 'service' | 'redirect' | 'x-accel-redirect' | 'x-sendfile';

type RedirectNeeds = {
  readonly store: Pick<ObjectStore, 'direct' | 'localFile'>;
  readonly segmentDelivery: SegmentDelivery;
  /** The folder of the disk store, and the internal location that contains it. */
  readonly storeFolder: string;
  readonly accelPrefix: string;
  readonly now: () => Date;
};

type RequestedFile = {
  readonly key: ObjectKey;
  readonly path: string;
  readonly method: string;
  /** Content-Disposition of the response. */
  readonly disposition?: string | undefined;
};
type Redirect = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** How long a presigned URL stays usable after a revocation. */
const VALID_SECONDS = 600;
const SEGMENT = /\.(?:mp4|m4s|m4a)$/;
export const isSegment = (path: string): boolean => SEGMENT.test(path);

/**
 * Undefined for requests that the service answers itself: manifests, because players resolve relative names
 * against the last URL, and HEAD, because a signature is valid for one method.
 */
export async function redirectToStore(
  { store: { direct }, segmentDelivery, now }: Omit<RedirectNeeds, 'storeFolder' | 'accelPrefix'>,
  { key, path, method, disposition }: RequestedFile,
): Promise<Redirect | undefined> {
  if (segmentDelivery !== 'redirect' || !direct || method !== 'GET' || !isSegment(path)) return undefined;
  const { url, expiresAt } = await direct.presignGet({
    key,
    responseContentType: contentTypeOf(path),
    ...(disposition !== undefined && { responseContentDisposition: disposition }),
    responseCacheControl: `private, max-age=${VALID_SECONDS}, immutable`,
    expiresInSeconds: VALID_SECONDS,
  });
  // A browser that seeks back gets the same URL, and with it the bytes in its cache.
  const age = Math.max(0, Math.floor((expiresAt.getTime() - now().getTime()) / 2000));
  return { url, headers: { 'cache-control': `private, max-age=${age}` } };
}

/** The origin to which segments are redirected, for the policies of pages. */
export async function findStoreOrigin(
  { store: { direct }, segmentDelivery }: Pick<RedirectNeeds, 'store' | 'segmentDelivery'>,
  key: ObjectKey,
): Promise<string | undefined> {
  if (segmentDelivery !== 'redirect' || !direct) return undefined;
  const { url } = await direct.presignGet({
    key,
    responseContentType: contentTypeOf(key),
    expiresInSeconds: 1,
  });
  return new URL(url).origin;
}

type ProxiedFile = Omit<RequestedFile, 'method'> & {
  /** Whether a cookie opened the file: its URL alone does not. */
  readonly isByCookie: boolean;
  /** The addresses of the client and of trusted proxies. */
  readonly addresses: () => readonly string[];
};

/**
 * nginx may repeat a permission for as long (seconds, X-Accel-Expires) as the service repeats its own.
 * What ends it in the service, such as a revocation, ends it in nginx at most a second later.
 */
const REPEATED_SECONDS = 1;

/**
 * The headers that make the web server send a segment. Undefined for requests that did not come through it:
 * their clients would get no bytes and see the path.
 */
export function findInternalRedirect(
  { store, segmentDelivery, storeFolder, accelPrefix }: Omit<RedirectNeeds, 'now'>,
  { key, path, isByCookie, addresses }: ProxiedFile,
): Readonly<Record<string, string>> | undefined {
  if (!segmentDelivery.startsWith('x-') || !isSegment(path) || addresses().length < 2) return undefined;
  const file = store.localFile?.(key);
  if (!file?.startsWith(`${storeFolder}/`)) return undefined;
  if (segmentDelivery === 'x-sendfile') return { 'x-sendfile': file };
  return {
    'x-accel-redirect': `${accelPrefix}${file.slice(storeFolder.length + 1)}`,
    ...(!isByCookie && { 'x-accel-expires': `${REPEATED_SECONDS}` }),
  };
}
