// Redirects players from segments to presigned URLs of the object store (contract B5).
import type { ObjectKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { contentTypeOf } from './served-file.ts';

type RedirectNeeds = {
  readonly store: Pick<ObjectStore, 'direct'>;
  readonly segmentDelivery: 'service' | 'redirect';
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

/** How long a viewer who is no longer allowed to play can use a URL that he has. */
const VALID_SECONDS = 600;
const SEGMENT = /\.(?:mp4|m4s|m4a)$/;

/**
 * Undefined for requests that the service answers itself: manifests, because players resolve relative names
 * against the last URL, and HEAD, because a signature is valid for one method.
 */
export async function redirectToStore(
  { store: { direct }, segmentDelivery, now }: RedirectNeeds,
  { key, path, method, disposition }: RequestedFile,
): Promise<Redirect | undefined> {
  if (segmentDelivery === 'service' || !direct || method !== 'GET' || !SEGMENT.test(path)) return undefined;
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
