// The context of images in tests.
import { contextOf } from '../platform/values/context.fixture.ts';
import type { VariantsContext } from './context.ts';

export const createImagesContext = (
  given: Parameters<typeof contextOf<VariantsContext>>[0],
): VariantsContext =>
  contextOf<VariantsContext>({
    settings: {
      maxVariantBytes: 1000,
      variantRetrySeconds: 900,
      photoLocation: 'off',
      imagePresets: new Map(),
    },
    now: () => new Date(),
    ...given,
  });
