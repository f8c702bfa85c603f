// Playback: URLs for owners, manifests and segments for viewers, downloads.
import type { AppContext } from '../app-context.ts';
import type { AssetViewContext } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import * as growingOperations from '../encoding/jobs/growing-manifests.ts';
import { bind } from '../platform/bind.ts';
import type { Providers } from '../providers/feature.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import * as captionedOperations from './captioned-files.ts';
import * as downloadOperations from './downloads.ts';
import { downloadRoutes } from './downloads.routes.ts';
import * as playbackOperations from './playback.ts';
import { playbackRoutes } from './playback.routes.ts';
import * as redirectOperations from './segment-redirect.ts';

type Needs = AppContext &
  Pick<downloadOperations.DownloadNeeds, 'limitOwner'> & {
    readonly view: Pick<AssetViewContext, 'playbackBaseUrl'>;
    readonly lifecycle: Lifecycle;
    readonly hosted: Providers;
    readonly guards: Guards;
    readonly objects: ObjectResponses;
  };

export function createPlayback(needs: Needs) {
  const { lifecycle, hosted, guards, config, objects, view } = needs;
  const shared = { ...needs, ...lifecycle, ...hosted, ...view };
  const playback = {
    ...bind({ ...shared, tokenTtlSeconds: config.playbackTokenTtlSeconds }, playbackOperations),
    ...bind(shared, growingOperations),
    ...bind({ ...shared, segmentDelivery: config.delivery.segments }, redirectOperations),
    ...bind(shared, captionedOperations),
  };
  return {
    operations: { findPlayableAsset: playback.findPlayableAsset },
    routes: [
      ...downloadRoutes(bind(shared, downloadOperations), guards, objects),
      ...playbackRoutes(playback, guards, objects),
    ],
    jobs: {},
  };
}
