// Renders stored events as stream text, with the assets as they are now.
import type { Asset } from '../assets/asset.ts';
import { type AssetViewContext, toAssetView, toEtag } from '../assets/asset-view.ts';
import type { EventsContext } from './context.ts';
import { type FeedEvent, renderEventStart } from './feed-event.ts';

/** An event in two buffers, so that all streams share the bytes of its asset. */
export type RenderedEvent = { readonly start: Uint8Array; readonly asset: Uint8Array };

/** Returns the events in the given order; reads each asset once. */
export type RenderEvents = (events: readonly FeedEvent[]) => Promise<RenderedEvent[]>;

const NO_ASSET = Buffer.from('null');

export function createEventRenderer({ lifecycle, view }: EventsContext): RenderEvents {
  const renderAsset = createAssetRenderer(view);
  return async (events) => {
    const ids = [...new Set(events.map((event) => event.asset_id))];
    const found = await Promise.all(ids.map((id) => lifecycle.findAssetById(id)));
    const assets = found.filter((asset) => asset !== undefined);
    await view.expectedTimes.prepare(assets);
    const texts = new Map(assets.map((asset) => [asset.id, renderAsset(asset)]));
    return events.map((event) => ({
      start: Buffer.from(renderEventStart(event)),
      asset: texts.get(event.asset_id) ?? NO_ASSET,
    }));
  };
}

/** An asset is at most some 30 KiB of JSON. */
const MAX_CACHED_BYTES = 4 * 1024 * 1024;

/** Caches the text of the assets that were sent last. */
function createAssetRenderer(view: AssetViewContext): (asset: Asset) => Uint8Array {
  const cached = new Map<string, { readonly etag: string; readonly bytes: Uint8Array }>();
  let cachedBytes = 0;
  const remove = (id: string) => {
    cachedBytes -= cached.get(id)?.bytes.byteLength ?? 0;
    cached.delete(id);
  };
  return (asset) => {
    const etag = toEtag(asset, view);
    const found = cached.get(asset.id);
    // Expected times move without a change of the asset.
    if (found?.etag === etag && asset.stream_status !== 'processing') return found.bytes;
    remove(asset.id);
    const bytes = Buffer.from(JSON.stringify(toAssetView(asset, view)));
    cached.set(asset.id, { etag, bytes });
    cachedBytes += bytes.byteLength;
    for (const id of cached.keys()) {
      if (cachedBytes <= MAX_CACHED_BYTES) break;
      remove(id);
    }
    return bytes;
  };
}
