// Storage: responses from the object store, whose buffers all features share, and local files for decoders.
import type { AppContext } from '../app-context.ts';
import { bind } from '../platform/bind.ts';
import * as fileOperations from './local-file.ts';
import { openHotObjects } from './hot-objects.ts';
import * as objectOperations from './object-response.ts';
import { openResponseBuffers } from './response-buffers.ts';

type Needs = Pick<AppContext, 'store' | 'scratchRoot' | 'config'>;

export function createStorage({ store, scratchRoot, config: { minFreeBytes, delivery } }: Needs) {
  const hotObjects = openHotObjects(delivery.segmentCacheBytes);
  return {
    operations: {
      ...bind({ store, buffers: openResponseBuffers(), hotObjects }, objectOperations),
      ...bind({ store, scratchRoot, minFreeBytes }, fileOperations),
      findHotObject: hotObjects.findKept,
    },
    routes: [],
    jobs: {},
  };
}
