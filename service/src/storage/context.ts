// What the functions of storage need.
import type { Config } from '../config.ts';
import type { ObjectCache } from './object-cache.ts';
import type { ObjectStore } from './object-store.ts';
import type { ResponseBuffers } from './response-buffers.ts';

export type StorageContext = {
  readonly settings: Pick<Config, 'minFreeBytes'> & {
    readonly delivery: Pick<Config['delivery'], 'segmentCacheBytes'>;
  };
  readonly store: ObjectStore;
  readonly scratchRoot: string;
  readonly buffers: ResponseBuffers;
  readonly objectCache: ObjectCache;
};
