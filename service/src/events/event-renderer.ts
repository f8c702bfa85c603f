// Renders stored events as stream text, with the assets as they are now.
import { type AssetViewContext, toAssetView } from '../assets/asset-view.ts';
import type { findAssetById } from '../assets/asset-lookup.ts';
import type { Bound } from '../platform/bind.ts';
import { type FeedEvent, renderEvent, toEventMessage } from './feed-event.ts';

export type RenderNeeds = {
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly view: AssetViewContext;
};

/** In the order of the events; reads each asset once. */
export async function renderEvents(
  { findAssetById: find, view }: RenderNeeds,
  events: readonly FeedEvent[],
): Promise<string[]> {
  const ids = [...new Set(events.map((event) => event.asset_id))];
  const assets = await Promise.all(ids.map((id) => find(id)));
  const views = new Map(assets.flatMap((asset) => (asset ? [[asset.id, toAssetView(asset, view)]] : [])));
  return events.map((event) =>
    renderEvent(event.position, toEventMessage(event, views.get(event.asset_id) ?? null)),
  );
}
