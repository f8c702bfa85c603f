// The origin at which an object store serves clients directly, for the policies of pages.
import type { ObjectStore } from './object-store.ts';
import { uploadKey } from './object-key.ts';

/** Any id: only the origin of its URL counts. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Undefined where all bytes pass through the service. */
export async function findDirectOrigin({ direct }: Pick<ObjectStore, 'direct'>): Promise<string | undefined> {
  const request = await direct?.presignGet({
    key: uploadKey(NO_ID, NO_ID),
    expiresInSeconds: 1,
    responseContentType: 'video/mp4',
  });
  return request && new URL(request.url).origin;
}
