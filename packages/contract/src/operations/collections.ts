// Operations of collections, their assets and their playlists.
import { type ErrorCase, jsonOperation } from '../operation.ts';
import { EXAMPLE_ASSET } from '../schemas/assets/asset.ts';
import {
  AddCollectionItemsRequest,
  Collection,
  CollectionItemPage,
  CollectionItemsResult,
  CollectionPage,
  CreateCollectionRequest,
  DeleteCollectionQuery,
  DeletedCollection,
  EXAMPLE_COLLECTION,
  EXAMPLE_ITEMS_RESULT,
  EXAMPLE_PLAYLIST,
  ListCollectionItemsQuery,
  ListCollectionsQuery,
  MoveCollectionItemRequest,
  Playlist,
  UpdateCollectionRequest,
} from '../schemas/collections.ts';

const OF_COLLECTIONS = { path: '/api/v1/collections', tag: 'Collections', auth: 'caller' } as const;
const OF_COLLECTION = { ...OF_COLLECTIONS, path: '/api/v1/collections/{id}' } as const;
const OF_ITEMS = { ...OF_COLLECTIONS, path: '/api/v1/collections/{id}/items' } as const;
const OF_ITEM = { ...OF_COLLECTIONS, path: '/api/v1/collections/{id}/items/{asset_id}' } as const;

const COLLECTION_ERRORS: readonly ErrorCase[] = [
  { code: 'FORBIDDEN', when: 'The collection is another user’s.' },
  { code: 'NOT_FOUND', when: 'No such collection.' },
];
const IDEMPOTENCY_ERRORS: readonly ErrorCase[] = [
  {
    code: 'CONFLICT',
    reason: 'request_in_progress',
    when: 'A request with this `Idempotency-Key` is running.',
  },
  {
    code: 'CONFLICT',
    reason: 'idempotency_key_reused',
    when: 'The `Idempotency-Key` was used with another request.',
  },
];
const NO_NEIGHBOUR: ErrorCase = {
  code: 'CONFLICT',
  reason: 'not_in_collection',
  when: 'The asset of `before` or `after` is not in the collection.',
};

export const createCollection = jsonOperation({
  ...OF_COLLECTIONS,
  id: 'createCollection',
  method: 'POST',
  summary: 'Create a collection',
  description: 'A collection contains assets of its owner alone, in the order that callers choose.',
  requestHeaders: ['Idempotency-Key'],
  body: CreateCollectionRequest,
  isBodyRequired: true,
  message: 'Collection created',
  data: Collection,
  example: { ...EXAMPLE_COLLECTION, asset_count: 0 },
  errors: [
    {
      code: 'CONFLICT',
      reason: 'too_many_collections',
      when: 'The owner has `COLLECTIONS_PER_OWNER` collections.',
    },
    { code: 'CONFLICT', reason: 'owner_is_being_erased', when: 'An operator erases this owner.' },
    ...IDEMPOTENCY_ERRORS,
  ],
});

export const listCollections = jsonOperation({
  ...OF_COLLECTIONS,
  id: 'listCollections',
  method: 'GET',
  summary: 'List collections',
  description: 'Lists the collections of an owner, newest first.',
  query: ListCollectionsQuery,
  message: 'Collections',
  data: CollectionPage,
  example: { items: [EXAMPLE_COLLECTION], next_cursor: null },
});

export const getCollection = jsonOperation({
  ...OF_COLLECTION,
  id: 'getCollection',
  method: 'GET',
  summary: 'Get a collection',
  message: 'Collection',
  data: Collection,
  example: EXAMPLE_COLLECTION,
  errors: COLLECTION_ERRORS,
});

export const updateCollection = jsonOperation({
  ...OF_COLLECTION,
  id: 'updateCollection',
  method: 'PATCH',
  summary: 'Update a collection',
  description: 'Changes the members of the body alone.',
  body: UpdateCollectionRequest,
  message: 'Collection updated',
  data: Collection,
  example: EXAMPLE_COLLECTION,
  errors: COLLECTION_ERRORS,
});

export const deleteCollection = jsonOperation({
  ...OF_COLLECTION,
  id: 'deleteCollection',
  method: 'DELETE',
  summary: 'Delete a collection',
  description: 'Deletes the collection for good. Its assets stay.',
  query: DeleteCollectionQuery,
  message: 'Collection deleted',
  data: DeletedCollection,
  example: { id: EXAMPLE_COLLECTION.id, deleted: true },
  errors: COLLECTION_ERRORS,
});

export const listCollectionItems = jsonOperation({
  ...OF_ITEMS,
  id: 'listCollectionItems',
  method: 'GET',
  summary: 'List the assets of a collection',
  description:
    'Lists the assets in the order of the collection. Assets in the trash are left out, and return to ' +
    'their place when they are restored.',
  query: ListCollectionItemsQuery,
  message: 'Assets of the collection',
  data: CollectionItemPage,
  example: {
    items: [{ asset: EXAMPLE_ASSET, added_at: EXAMPLE_COLLECTION.updated_at }],
    next_cursor: null,
  },
  errors: COLLECTION_ERRORS,
});

export const addCollectionItems = jsonOperation({
  ...OF_ITEMS,
  id: 'addCollectionItems',
  method: 'POST',
  summary: 'Add assets to a collection',
  description:
    'Adds all assets or none. An asset that is in the collection keeps its place, so the request can be ' +
    'repeated.',
  requestHeaders: ['Idempotency-Key'],
  body: AddCollectionItemsRequest,
  isBodyRequired: true,
  message: 'Assets added',
  data: CollectionItemsResult,
  example: EXAMPLE_ITEMS_RESULT,
  errors: [
    { code: 'BAD_REQUEST', reason: 'other_owner', when: 'An asset has another owner than the collection.' },
    { code: 'FORBIDDEN', when: 'The collection or an asset is another user’s.' },
    { code: 'NOT_FOUND', when: 'No such collection, or no such asset (`details.asset_id`).' },
    {
      code: 'CONFLICT',
      reason: 'collection_full',
      when: 'The collection would have more than `COLLECTION_MAX_ASSETS` assets.',
    },
    NO_NEIGHBOUR,
    ...IDEMPOTENCY_ERRORS,
  ],
});

export const moveCollectionItem = jsonOperation({
  ...OF_ITEM,
  id: 'moveCollectionItem',
  method: 'PATCH',
  summary: 'Move an asset within a collection',
  description: 'Moves the asset to the start or the end, or right before or after another asset.',
  body: MoveCollectionItemRequest,
  isBodyRequired: true,
  message: 'Asset moved',
  data: CollectionItemsResult,
  example: EXAMPLE_ITEMS_RESULT,
  errors: [
    { code: 'FORBIDDEN', when: 'The collection is another user’s.' },
    { code: 'NOT_FOUND', when: 'No such collection, or the asset is not in it.' },
    NO_NEIGHBOUR,
  ],
});

export const removeCollectionItem = jsonOperation({
  ...OF_ITEM,
  id: 'removeCollectionItem',
  method: 'DELETE',
  summary: 'Remove an asset from a collection',
  description: 'The asset itself stays. An asset that is not in the collection is no error.',
  query: DeleteCollectionQuery,
  message: 'Asset removed',
  data: CollectionItemsResult,
  example: { ...EXAMPLE_ITEMS_RESULT, asset_count: 0 },
  errors: COLLECTION_ERRORS,
});

export const getPlaylist = jsonOperation({
  ...OF_COLLECTIONS,
  id: 'getPlaylist',
  method: 'GET',
  path: '/api/v1/collections/{id}/playlist',
  auth: 'viewer',
  summary: 'Get the playlist of a collection',
  description:
    'The ready assets with their playback URLs, page by page. Without credentials: a public collection ' +
    'with its public assets. With those of the owner or the service: every collection of the owner, with ' +
    'signed URLs of private assets.',
  query: ListCollectionItemsQuery,
  requestHeaders: ['If-None-Match'],
  hasEtag: true,
  message: 'Playlist',
  data: Playlist,
  example: EXAMPLE_PLAYLIST,
  errors: [
    { code: 'FORBIDDEN', when: 'The collection is another user’s, and private.' },
    { code: 'NOT_FOUND', when: 'No such collection, or private and no credentials were sent.' },
  ],
});

export const COLLECTION_OPERATIONS = [
  createCollection,
  listCollections,
  getCollection,
  updateCollection,
  deleteCollection,
  listCollectionItems,
  addCollectionItems,
  moveCollectionItem,
  removeCollectionItem,
  getPlaylist,
] as const;
