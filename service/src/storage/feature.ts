// Storage: responses from the object store, whose buffers all wings share, and local files for decoders.
import { offer } from '../platform/values/offer.ts';
import type { StorageContext } from './context.ts';
import { findLocalFile, prepareLocalFile } from './local-file.ts';
import { createObjectCache } from './object-cache.ts';
import { sendBytes, sendEncryptedObject, sendObject } from './object-response.ts';
import { openResponseBuffers } from './response-buffers.ts';

/** What other wings call. */
export type Storage = ReturnType<typeof createStorage>['operations'];

export function createStorage(outer: Omit<StorageContext, 'buffers' | 'objectCache'>) {
  const objectCache = createObjectCache(outer.settings.delivery.segmentCacheBytes);
  const ctx: StorageContext = { ...outer, buffers: openResponseBuffers(), objectCache };
  return {
    operations: {
      ...offer(ctx, { sendObject, sendEncryptedObject, findLocalFile, prepareLocalFile }),
      sendBytes,
      findCachedObject: objectCache.findCached,
    },
    routes: [],
    jobs: {},
  };
}
