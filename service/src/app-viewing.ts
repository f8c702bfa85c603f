// Creates the wings that serve viewers: playback, images and collections.
import type { AppBase, AppContext } from './app-base.ts';
import { createCollections } from './collections/feature.ts';
import { createImages } from './images/feature.ts';
import { createPlayback, type PlaybackOperations } from './playback/feature.ts';

export function openPlayback(
  { config, log, clocks, publicBaseUrl, adapters }: AppContext,
  base: AppBase,
  encoding: Parameters<typeof createPlayback>[0]['encoding'],
) {
  const { db, store, encoder, urlSecrets, scratchRoot, encoderMissing, locations } = adapters;
  return createPlayback({
    settings: {
      ...config,
      framesPerMinute: config.decoders.framesPerMinute,
      urlSecrets,
      publicBaseUrl,
      storeFolder: locations.store,
      scratchRoot,
      encoderMissing,
    },
    db,
    store,
    encoder,
    now: clocks.now,
    log,
    lifecycle: base.lifecycle.operations,
    encoding,
    providers: base.providers.operations,
    storage: base.storage.operations,
    guards: base.guards,
    limitOwner: base.limitOwner,
  });
}

export const openImages = (
  { config, clocks, adapters }: AppContext,
  base: AppBase,
  playback: PlaybackOperations,
) =>
  createImages({
    settings: config,
    store: adapters.store,
    imageProcessor: adapters.imageProcessor,
    db: adapters.db,
    jobs: adapters.jobs,
    now: clocks.now,
    urlSecrets: adapters.urlSecrets,
    asService: base.auth.operations.asService,
    lifecycle: base.lifecycle.operations,
    storage: base.storage.operations,
    playback,
  });

export const openCollections = (
  { config, clocks, adapters }: AppContext,
  base: AppBase,
  playback: PlaybackOperations,
) =>
  createCollections({
    settings: config,
    db: adapters.db,
    clocks,
    urlSecrets: adapters.urlSecrets,
    auth: base.auth.operations,
    playback,
    view: base.view,
  });
