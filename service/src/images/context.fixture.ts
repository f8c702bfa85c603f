// The context of images for tests: members that a test does not replace fail when they are used.
import type { VariantsContext } from './context.ts';

const unused = (): never => {
  throw new Error('the test does not replace this member');
};

type Stores = Pick<VariantsContext, 'store' | 'imageProcessor' | 'storage' | 'lifecycle'>;

/** The stores are the test's own. */
export const createImagesContext = (
  stores: Stores,
  overrides: Partial<VariantsContext> = {},
): VariantsContext => ({
  settings: { maxVariantBytes: 1000, variantRetrySeconds: 900 },
  now: () => new Date(),
  playback: { findPlayableAsset: unused },
  inFlight: (_key, work) => work(),
  ...stores,
  ...overrides,
});
