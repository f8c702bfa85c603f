// The context of storage in tests.
import { contextOf } from '../platform/values/context.fixture.ts';
import type { StorageContext } from './context.ts';
import { createObjectCache } from './object-cache.ts';
import { openResponseBuffers } from './response-buffers.ts';

/** Nothing is cached, and no space is reserved. */
export const createStorageContext = (
  given: Parameters<typeof contextOf<StorageContext>>[0],
): StorageContext =>
  contextOf<StorageContext>({
    settings: { minFreeBytes: 0, delivery: { segmentCacheBytes: 0 } },
    buffers: openResponseBuffers(),
    objectCache: createObjectCache(0),
    ...given,
  });
