// Creates the wings, lowest first, and gives each the context that it names.
import { type AppBase, type AppContext, createBase } from './app-base.ts';
import { openCollections, openImages, openPlayback } from './app-viewing.ts';
import { createEvents } from './events/feature.ts';
import { createLibrary } from './library/feature.ts';
import { createOperations } from './operations/feature.ts';
import { createOwners } from './owners/feature.ts';
import type { Limiters } from './platform/http/limits/rate-limit.ts';
import { createUpkeep } from './upkeep/feature.ts';
import { createUploads } from './uploads/feature.ts';

export type Wings = ReturnType<typeof createWings>;

export function createWings(app: AppContext, limiters: Limiters) {
  const base = createBase(app, limiters);
  const { lifecycle, storage, auth, usage, captions, providers, encoding } = base;
  const uploads = openUploads(app, base);
  const playback = openPlayback(app, base, encoding.operations);
  const events = openEvents(app, base);
  const library = openLibrary(app, base);
  const collections = openCollections(app, base, playback.operations);
  return {
    auth,
    lifecycle,
    storage,
    usage,
    captions,
    providers,
    library,
    encoding,
    images: openImages(app, base, playback.operations),
    uploads,
    playback,
    events,
    collections,
    upkeep: openUpkeep(app, base, {
      encoding: encoding.operations,
      uploads: uploads.operations,
      events: events.operations,
    }),
    operations: openOperations(app, base),
    owners: openOwners(app, base, {
      library: library.operations,
      uploads: uploads.operations,
      collections: collections.operations,
    }),
  };
}

const openLibrary = ({ config, clocks, adapters }: AppContext, base: AppBase) =>
  createLibrary({
    settings: config,
    db: adapters.db,
    jobs: adapters.jobs,
    clocks,
    urlSecrets: adapters.urlSecrets,
    lifecycle: base.lifecycle.operations,
    usage: base.usage.operations,
    providers: base.providers.operations,
    view: base.view,
    guards: base.guards,
    asOperator: base.asOperator,
    callerLimits: { heldRequests: base.heldRequests, limitOwner: base.limitOwner },
  });

function openUploads({ config, log, clocks, publicBaseUrl, adapters }: AppContext, base: AppBase) {
  const { db, store, jobs, urlSecrets, imageProcessor } = adapters;
  const mediaTypes = config.mediaTypes.filter(
    ({ signatures }) => imageProcessor.canDecodeHeif || !signatures.includes('heif'),
  );
  const { createUploadToken, recordUploadOfToken, assertReadableByToken } = base.auth.operations;
  const { view, guards, asOperator } = base;
  return createUploads(
    {
      settings: { ...config, urlSecrets, publicBaseUrl, mediaTypes, defaultProvider: config.videoProvider },
      db,
      store,
      jobs,
      log,
      clocks,
      lifecycle: base.lifecycle.operations,
      usage: base.usage.operations,
      providers: base.providers.operations,
      admission: {
        createUploadToken,
        recordUploadOfToken,
        assertReadableByToken,
        limitOwner: base.limitOwner,
        requireDatabaseSpace: adapters.requireDatabaseSpace,
      },
      worker: {
        probe: adapters.probe,
        encoder: adapters.encoder,
        scratchRoot: adapters.scratchRoot,
        scratchReservations: base.scratchReservations,
        findLocalFile: base.storage.operations.findLocalFile,
      },
    },
    { guards, asOperator, view },
  );
}

const openEvents = ({ config, log, clocks, adapters }: AppContext, base: AppBase) =>
  createEvents({
    settings: config,
    service: base.service,
    db: adapters.db,
    notifications: adapters.notifications,
    log,
    clocks,
    urlSecrets: adapters.urlSecrets,
    auth: base.auth.operations,
    lifecycle: base.lifecycle.operations,
    view: base.view,
    guards: base.guards,
    callerLimits: { heldRequests: base.heldRequests, limitOwner: base.limitOwner },
  });

type Kept = Pick<Parameters<typeof createUpkeep>[0], 'encoding' | 'uploads' | 'events'>;

const openUpkeep = ({ config, clocks, adapters }: AppContext, base: AppBase, kept: Kept) =>
  createUpkeep({
    settings: config,
    db: adapters.db,
    store: adapters.store,
    jobs: adapters.jobs,
    clocks,
    auth: base.auth.operations,
    lifecycle: base.lifecycle.operations,
    providers: base.providers.operations,
    ...kept,
    asOperator: base.asOperator,
  });

function openOperations({ config, log, clocks, adapters }: AppContext, base: AppBase) {
  const { encoderVersion, encoderMissing, videoEncoder, imageProcessor, sandbox, locations } = adapters;
  return createOperations({
    settings: config,
    service: base.service,
    machine: {
      encoderVersion,
      encoderMissing,
      videoEncoder,
      canDecodeHeif: imageProcessor.canDecodeHeif,
      protections: sandbox.protections,
      storeFolder: locations.store,
      host: adapters.workerName,
      scratchRoot: adapters.scratchRoot,
      requireDatabaseSpace: adapters.requireDatabaseSpace,
    },
    db: adapters.db,
    store: adapters.store,
    jobs: adapters.jobs,
    lifecycle: base.lifecycle.operations,
    urlSecrets: adapters.urlSecrets,
    log,
    now: clocks.now,
    providers: base.providers.operations,
    asOperator: base.asOperator,
  });
}

const openOwners = (
  { config, log, clocks, adapters: { db, store, jobs, urlSecrets } }: AppContext,
  { lifecycle, usage, captions, providers, asOperator, asOperatorBytes }: AppBase,
  wings: Pick<Parameters<typeof createOwners>[0], 'library' | 'uploads' | 'collections'>,
) =>
  createOwners({
    settings: config,
    db,
    store,
    jobs,
    log,
    now: clocks.now,
    urlSecrets,
    lifecycle: lifecycle.operations,
    usage: usage.operations,
    captions: captions.operations,
    providers: providers.operations,
    ...wings,
    asOperator,
    asOperatorBytes,
  });
