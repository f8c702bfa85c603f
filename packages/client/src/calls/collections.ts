// Calls on collections: named, ordered lists of assets.
import type {
  AddCollectionItemsRequest,
  Collection,
  CollectionItem,
  CollectionItemPage,
  CollectionItemsResult,
  CollectionPage,
  CreateCollectionRequest,
  DeletedCollection,
  ListCollectionItemsQuery,
  MoveCollectionItemRequest,
  Playlist,
  PlaylistItem,
  UpdateCollectionRequest,
} from '../api/collections.ts';
import { ownerOf } from '../media.ts';
import { createPagedList, type PagedList } from '../pages.ts';
import { type CallOptions, pathBelow, type Transport } from '../transport.ts';

type NamedByOptions<T> = Omit<T, 'owner_user_id'>;
/** One of `position`, `before` and `after`; omitted: the end. */
export type CollectionPlace = NamedByOptions<MoveCollectionItemRequest>;
/** `limit`: items of a page, 1–100. Default 50. */
export type CollectionListQuery = ListCollectionItemsQuery;

export type CollectionCalls = {
  /**
   * Creates a collection. Errors: 409 `too_many_collections`.
   *
   * @example const { id } = await mediary.collections.create({ name: 'Launch week' });
   */
  create(request: NamedByOptions<CreateCollectionRequest>, options?: CallOptions): Promise<Collection>;
  /** Collections of the owner, newest first. */
  list(query?: CollectionListQuery, options?: CallOptions): PagedList<Collection, CollectionPage>;
  get(id: string, options?: CallOptions): Promise<Collection>;
  /** Omitted members keep their values; null clears them. */
  update(
    id: string,
    changes: NamedByOptions<UpdateCollectionRequest>,
    options?: CallOptions,
  ): Promise<Collection>;
  /** Deletes the collection. Its assets stay. */
  delete(id: string, options?: CallOptions): Promise<DeletedCollection>;
  /**
   * The assets in their order.
   *
   * @example for await (const { asset } of mediary.collections.items(id)) console.log(asset.title);
   */
  items(
    id: string,
    query?: CollectionListQuery,
    options?: CallOptions,
  ): PagedList<CollectionItem, CollectionItemPage>;
  /**
   * Adds up to 100 assets, all or none. An asset that is in the collection keeps its place.
   * Errors: 404 with the `asset_id`; 409 `collection_full`, `not_in_collection`.
   *
   * @example await mediary.collections.add(id, [first.id, second.id], { position: 'start' });
   */
  add(
    id: string,
    assetIds: AddCollectionItemsRequest['asset_ids'],
    place?: CollectionPlace,
    options?: CallOptions,
  ): Promise<CollectionItemsResult>;
  /**
   * Moves an asset. Errors: 404 if it is not in the collection; 409 `not_in_collection` for its neighbour.
   *
   * @example await mediary.collections.move(id, asset.id, { after: other.id });
   */
  move(
    id: string,
    assetId: string,
    place: CollectionPlace,
    options?: CallOptions,
  ): Promise<CollectionItemsResult>;
  /** Removes an asset from the collection. The asset itself stays. */
  remove(id: string, assetId: string, options?: CallOptions): Promise<CollectionItemsResult>;
  /** The ready assets with playback URLs. `page()` returns the name of the collection too. */
  playlist(id: string, query?: CollectionListQuery, options?: CallOptions): PagedList<PlaylistItem, Playlist>;
};

const collectionPath = pathBelow('/collections', 'collection');
const itemBelow = pathBelow('/items', 'asset');
const itemPath = (id: string, assetId: string): string => collectionPath(id, itemBelow(assetId));

export function createCollectionCalls(transport: Transport): CollectionCalls {
  const send = <T>(method: 'POST' | 'PATCH', path: string, { body, options }: SentBody): Promise<T> =>
    transport.request({ method, path, body: { ...body, ...ownerOf(transport, options) }, options });
  return {
    ...createReadCalls(transport),
    create: (request, options) => send('POST', '/collections', { body: request, options }),
    update: (id, changes, options) => send('PATCH', collectionPath(id), { body: changes, options }),
    delete: (id, options) =>
      transport.request({
        method: 'DELETE',
        path: collectionPath(id),
        query: ownerOf(transport, options),
        options,
        dataIfGone: { id, deleted: true } satisfies DeletedCollection,
      }),
    add: (...[id, assetIds, place, options]) =>
      send('POST', collectionPath(id, '/items'), { body: { asset_ids: assetIds, ...place }, options }),
    move: (...[id, assetId, place, options]) =>
      send('PATCH', itemPath(id, assetId), { body: place, options }),
    remove: (id, assetId, options) =>
      transport.request({
        method: 'DELETE',
        path: itemPath(id, assetId),
        query: ownerOf(transport, options),
        options,
      }),
  };
}

type SentBody = { readonly body: object; readonly options: CallOptions | undefined };

function createReadCalls(transport: Transport): Pick<CollectionCalls, 'list' | 'get' | 'items' | 'playlist'> {
  const list = <T, P extends { items: T[]; next_cursor: string | null }>(
    path: string,
    query: CollectionListQuery & { readonly owner_user_id?: string },
    options: CallOptions | undefined,
  ): PagedList<T, P> =>
    createPagedList<T, P>(
      (cursor) => transport.request({ method: 'GET', path, query: { ...query, cursor }, options }),
      query.cursor,
    );
  return {
    list: (query, options) => list('/collections', { ...query, ...ownerOf(transport, options) }, options),
    get: (id, options) => transport.request({ method: 'GET', path: collectionPath(id), options }),
    items: (id, query = {}, options) => list(collectionPath(id, '/items'), query, options),
    playlist: (id, query = {}, options) => list(collectionPath(id, '/playlist'), query, options),
  };
}
