// Events: the timeline of an asset, and live events (contract B2, B8).
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { AssetViewContext } from '../assets/asset-view.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import { bind } from '../platform/bind.ts';
import type { HeldRequests } from '../platform/concurrency/held-requests.ts';
import { createEventStreams, preparePositions } from './event-streams.ts';
import { eventRoutes } from './events.routes.ts';
import { listTimeline } from './timeline.ts';

type Needs = AppContext & {
  readonly lifecycle: Lifecycle;
  readonly guards: Guards;
  readonly view: AssetViewContext;
  readonly heldRequests: HeldRequests;
};

export function createEvents(context: Needs) {
  const { findAssetById } = context.lifecycle;
  const { maxStreamSeconds } = context.config.streamLimits;
  const { openStream, endStreams } = createEventStreams({ ...context, findAssetById, maxStreamSeconds });
  return {
    operations: { endStreams, preparePositions: () => preparePositions(context) },
    routes: eventRoutes({ ...bind(context, { listTimeline }), openStream }, context.guards),
    jobs: {},
  };
}
