// The context of the library in tests.
import { UNKNOWN_TIMES } from '../assets/asset-view.fixture.ts';
import { NOW } from '../lifecycle/asset.fixture.ts';
import { contextOf } from '../platform/values/context.fixture.ts';
import type { LibraryContext } from './context.ts';

/** A trash of ten days; no CDN, and no hosted provider. */
export const createLibraryContext = (
  given: Parameters<typeof contextOf<LibraryContext>>[0],
): LibraryContext =>
  contextOf<LibraryContext>({
    settings: {
      trashDays: 10,
      countryHeader: undefined,
      sortedListMaxAssets: 10_000,
      delivery: { cdnBaseUrl: undefined, purgeUrl: undefined },
    },
    jobs: { hasOpenJob: async () => false },
    usage: { underQuota: (_owner, work) => work() },
    clocks: { now: () => NOW, databaseNow: async () => NOW },
    providers: { isHosted: () => false, canSign: () => true, startJob: () => undefined },
    view: {
      findHostedPlayback: () => undefined,
      canRetry: () => true,
      segmentEncryption: 'off',
      expectedTimes: UNKNOWN_TIMES,
    },
    ...given,
  });
