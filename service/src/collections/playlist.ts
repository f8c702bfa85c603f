// The playlist of a collection: its ready assets with URLs that players can use unchanged.
import type { Playlist } from '@mediary/contract/schemas/collections';
import type { Asset } from '../assets/asset.ts';
import type { Caller } from '../auth/caller.ts';
import { assertOwnerAllowed } from '../auth/permissions.ts';
import { forbidden, notFound } from '../platform/http/errors.ts';
import { versionOf } from '../platform/http/pages/page-script.ts';
import type { Collection } from './collection.ts';
import { createItemCursor, readItemCursor } from './collection-items.ts';
import { listPlayable } from './collection-items.sql.ts';
import { getCollection } from './collections.ts';
import type { CollectionsContext } from './context.ts';

type PlaylistRequest = { readonly limit: number; readonly cursor?: string | undefined };

/** An undefined caller sent no credentials. Only the owner and services see what is private. */
export async function readPlaylist(
  ctx: CollectionsContext,
  { caller, id }: { readonly caller: Caller | undefined; readonly id: string },
  { limit, cursor }: PlaylistRequest,
): Promise<Playlist> {
  const collection = await getCollection(ctx.db, id);
  const isPublicOnly = !canSeePrivate(caller, collection);
  const scope = { list: 'playlist', id: collection.id, isPublicOnly };
  const after = readItemCursor(ctx, scope, cursor);
  const rows = await listPlayable(ctx.db, { id: collection.id, after, limit: limit + 1, isPublicOnly });
  return {
    id: collection.id,
    name: collection.name,
    description: collection.description,
    visibility: collection.visibility,
    items: rows.slice(0, limit).map((asset) => toPlaylistItem(ctx, asset)),
    next_cursor: createItemCursor(ctx, scope, { rows, limit }),
  };
}

/** Throws for a private collection of another owner. A public one is shown to every caller. */
function canSeePrivate(caller: Caller | undefined, collection: Collection): boolean {
  if (caller?.kind === 'user' && caller.userId === collection.owner_user_id) return true;
  if (caller?.kind === 'service') {
    assertOwnerAllowed(caller, collection.owner_user_id);
    return true;
  }
  if (collection.visibility === 'public') return false;
  if (caller) throw forbidden('You do not own this collection');
  throw notFound('No such collection');
}

function toPlaylistItem({ playback }: CollectionsContext, asset: Asset): Playlist['items'][number] {
  const urls = playback.getPlayback(asset);
  return {
    asset_id: asset.id,
    kind: asset.kind,
    title: asset.title,
    duration_ms: asset.duration_ms,
    width: asset.width,
    height: asset.height,
    placeholder: asset.placeholder,
    poster: urls.thumbnail,
    hls: urls.hls,
    dash: urls.dash,
    mp4: urls.mp4,
    image: urls.image,
    expires_at: urls.expires_at,
  };
}

export const toPlaylistEtag = (playlist: Playlist): string => `"${versionOf(JSON.stringify(playlist))}"`;
