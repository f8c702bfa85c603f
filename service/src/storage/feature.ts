// Storage: responses from the object store, whose buffers all features share, and local files for decoders.
import type { AppContext } from '../app-context.ts';
import { bind } from '../platform/bind.ts';
import * as fileOperations from './local-file.ts';
import { createObjectCache } from './object-cache.ts';
import * as objectOperations from './object-response.ts';
import { openResponseBuffers } from './response-buffers.ts';

type Needs = Pick<AppContext, 'store' | 'scratchRoot' | 'config'>;

export function createStorage({ store, scratchRoot, config: { minFreeBytes, delivery } }: Needs) {
  const objectCache = createObjectCache(delivery.segmentCacheBytes);
  return {
    operations: {
      ...bind({ store, buffers: openResponseBuffers(), objectCache }, objectOperations),
      ...bind({ store, scratchRoot, minFreeBytes }, fileOperations),
      findCachedObject: objectCache.findCached,
    },
    routes: [],
    jobs: {},
  };
}
