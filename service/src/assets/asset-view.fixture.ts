// Parts of the view's context in tests.
import { NO_EXPECTED_TIMES } from '@mediary/contract/schemas/assets/expected-times';
import type { AssetViewContext } from './asset-view.ts';

/** Nothing is known of any asset. */
export const UNKNOWN_TIMES: AssetViewContext['expectedTimes'] = {
  prepare: async () => {},
  find: () => NO_EXPECTED_TIMES,
};
