// Storage: responses from the object store, whose buffers all features share.
import type { AppContext } from '../app-context.ts';
import { bind } from '../platform/bind.ts';
import * as objectOperations from './object-response.ts';
import { openResponseBuffers } from './response-buffers.ts';

export const createStorage = ({ store }: Pick<AppContext, 'store'>) => ({
  operations: bind({ store, buffers: openResponseBuffers() }, objectOperations),
  routes: [],
  jobs: {},
});
