// Lifecycle: finding assets, and the reports that change their state.
import type { AppContext } from '../app-context.ts';
import { bind } from '../platform/bind.ts';
import { createKeyedMutex } from '../platform/concurrency/keyed-mutex.ts';
import { assetBatches } from './asset-loader.ts';
import * as assetOperations from './asset-lookup.ts';
import * as reportOperations from './reports.ts';

export type Lifecycle = ReturnType<typeof createLifecycle>['operations'];

export function createLifecycle({ db, jobs, now }: AppContext) {
  const batches = assetBatches(db);
  return {
    operations: {
      ...bind(batches, assetOperations),
      ...bind({ db, batches, jobs, now, inTurn: createKeyedMutex() }, reportOperations),
    },
    routes: [],
    jobs: {},
  };
}
