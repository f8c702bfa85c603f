// Collections: named, ordered lists of assets of one owner, and their playlists.
import { type Static, Type } from 'typebox';
import { ASSET_KINDS, COLLECTION_ENDS, VISIBILITIES } from '../enums.ts';
import { Asset, EXAMPLE_ASSET } from './assets/asset.ts';
import { AssetId, Cursor, editableFields, NextCursor, nullable, OwnerUserId, Timestamp } from './common.ts';
import { EXAMPLE_PLAYBACK } from './playback.ts';

const MAX_ITEMS_PER_REQUEST = 100;
/** The highest COLLECTION_MAX_ASSETS. */
export const MAX_COLLECTION_ASSETS = 10_000;

const fields = {
  name: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'For people. Two collections may have the same one.',
    examples: ['Launch week'],
  }),
  description: nullable(Type.String({ maxLength: 2000, examples: ['All talks, in order'] })),
  visibility: Type.Enum([...VISIBILITIES], {
    description:
      '`public`: anybody who knows the id can read the playlist, with the public assets alone. It does ' +
      'not change the visibility of assets.',
  }),
};

export const CreateCollectionRequest = Type.Object(
  {
    name: fields.name,
    description: Type.Optional(fields.description),
    visibility: Type.Optional({ ...fields.visibility, default: 'private' }),
    metadata: editableFields.metadata,
    owner_user_id: OwnerUserId,
  },
  { $id: 'CreateCollectionRequest', examples: [{ name: 'Launch week', visibility: 'public' }] },
);
export type CreateCollectionRequest = Static<typeof CreateCollectionRequest>;

/** Unknown members are rejected. */
export const UpdateCollectionRequest = Type.Object(
  {
    name: Type.Optional(fields.name),
    description: Type.Optional(fields.description),
    visibility: Type.Optional(fields.visibility),
    metadata: editableFields.metadata,
    owner_user_id: OwnerUserId,
  },
  { $id: 'UpdateCollectionRequest', additionalProperties: false, examples: [{ name: 'Launch week 2026' }] },
);
export type UpdateCollectionRequest = Static<typeof UpdateCollectionRequest>;

const CollectionId = Type.String({
  format: 'uuid',
  description: 'UUIDv7, ordered by creation time.',
  examples: ['019aab7c-9b1c-7d10-8a55-3c5e0f7a1b2d'],
});

const described = {
  id: CollectionId,
  name: fields.name,
  description: fields.description,
  visibility: fields.visibility,
};

export const Collection = Type.Object(
  {
    ...described,
    metadata: nullable(Type.Object({}, { additionalProperties: true })),
    owner_user_id: Type.String({ examples: ['user_42'] }),
    asset_count: Type.Integer({ description: 'Assets in it, without those in the trash.' }),
    created_at: Timestamp,
    updated_at: Type.String({
      format: 'date-time',
      description: 'The latest change of its members or of its assets by a caller.',
    }),
  },
  { $id: 'Collection', description: 'A named, ordered list of assets. An asset may be in several.' },
);
export type Collection = Static<typeof Collection>;

export const EXAMPLE_COLLECTION: Collection = {
  id: '019aab7c-9b1c-7d10-8a55-3c5e0f7a1b2d',
  owner_user_id: 'user_42',
  name: 'Launch week',
  description: 'All talks, in order',
  visibility: 'public',
  metadata: null,
  asset_count: 1,
  created_at: '2026-11-22T10:20:00.000Z',
  updated_at: '2026-11-22T10:21:00.000Z',
};

const paging = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  cursor: Type.Optional(Cursor),
};

export const ListCollectionsQuery = Type.Object({ ...paging, owner_user_id: OwnerUserId });

/** Reads of one collection need no owner. */
export const ListCollectionItemsQuery = Type.Object(paging);

export const CollectionPage = Type.Object(
  { items: Type.Array(Collection), next_cursor: NextCursor },
  { $id: 'CollectionPage' },
);

export const DeleteCollectionQuery = Type.Object({ owner_user_id: OwnerUserId });

export const DeletedCollection = Type.Object(
  { id: CollectionId, deleted: Type.Literal(true) },
  { $id: 'DeletedCollection' },
);

const CollectionItem = Type.Object(
  { asset: Asset, added_at: Timestamp },
  { $id: 'CollectionItem', description: 'An asset at its place in a collection.' },
);

export const CollectionItemPage = Type.Object(
  { items: Type.Array(CollectionItem), next_cursor: NextCursor },
  { $id: 'CollectionItemPage' },
);
export type CollectionItemPage = Static<typeof CollectionItemPage>;

const place = {
  position: Type.Optional(
    Type.Enum([...COLLECTION_ENDS], { description: 'Default: `end`. Not with `before` or `after`.' }),
  ),
  before: Type.Optional(
    Type.String({ format: 'uuid', description: 'The asset of the collection that comes right after.' }),
  ),
  after: Type.Optional(
    Type.String({ format: 'uuid', description: 'The asset of the collection that comes right before.' }),
  ),
};

export const AddCollectionItemsRequest = Type.Object(
  {
    asset_ids: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: MAX_ITEMS_PER_REQUEST,
      description: 'Ids of assets of the owner, in the order that they get. Duplicates count once.',
      examples: [[EXAMPLE_ASSET.id]],
    }),
    ...place,
    owner_user_id: OwnerUserId,
  },
  { $id: 'AddCollectionItemsRequest', examples: [{ asset_ids: [EXAMPLE_ASSET.id], position: 'start' }] },
);

/** Unknown members are rejected. */
export const MoveCollectionItemRequest = Type.Object(
  { ...place, owner_user_id: OwnerUserId },
  { $id: 'MoveCollectionItemRequest', additionalProperties: false, examples: [{ position: 'start' }] },
);
/** Where assets go in a collection. */
export type ItemPlace = Static<Type.TObject<typeof place>>;

export const CollectionItemsResult = Type.Object(
  {
    id: CollectionId,
    owner_user_id: Type.String({ examples: ['user_42'] }),
    changed_asset_ids: Type.Array(AssetId, {
      description: 'The assets that the request added, moved or removed. The others were as wanted.',
    }),
    asset_count: Type.Integer({ description: 'Assets in it, without those in the trash.' }),
  },
  { $id: 'CollectionItemsResult', description: 'What a request changed in a collection.' },
);
export type CollectionItemsResult = Static<typeof CollectionItemsResult>;

export const EXAMPLE_ITEMS_RESULT: CollectionItemsResult = {
  id: EXAMPLE_COLLECTION.id,
  owner_user_id: EXAMPLE_COLLECTION.owner_user_id,
  changed_asset_ids: [EXAMPLE_ASSET.id],
  asset_count: 1,
};

const url = (description: string) => nullable(Type.String({ description }));

const PlaylistItem = Type.Object(
  {
    asset_id: AssetId,
    kind: Type.Enum([...ASSET_KINDS]),
    title: nullable(Type.String()),
    duration_ms: nullable(Type.Integer({ description: 'Null for images.' })),
    width: nullable(Type.Integer()),
    height: nullable(Type.Integer()),
    placeholder: nullable(Type.String({ description: 'A ThumbHash in Base64.' })),
    poster: url('JPEG.'),
    hls: url('HLS manifest of a video.'),
    dash: url('DASH manifest of a video.'),
    mp4: url('The video as one MP4 file.'),
    image: url('The image or poster; append `w`, `h`, `fit` and `format`.'),
    expires_at: nullable(
      Type.String({ format: 'date-time', description: 'When the URLs of a private asset expire.' }),
    ),
  },
  { $id: 'PlaylistItem', description: 'A ready asset with URLs that a player can use unchanged.' },
);

export const Playlist = Type.Object(
  { ...described, items: Type.Array(PlaylistItem), next_cursor: NextCursor },
  { $id: 'Playlist', description: 'The ready assets of a collection, in their order.' },
);
export type Playlist = Static<typeof Playlist>;

export const EXAMPLE_PLAYLIST: Playlist = {
  id: EXAMPLE_COLLECTION.id,
  name: EXAMPLE_COLLECTION.name,
  description: EXAMPLE_COLLECTION.description,
  visibility: 'private',
  items: [
    {
      asset_id: EXAMPLE_ASSET.id,
      kind: 'video',
      title: EXAMPLE_ASSET.title,
      duration_ms: EXAMPLE_ASSET.duration_ms,
      width: EXAMPLE_ASSET.width,
      height: EXAMPLE_ASSET.height,
      placeholder: EXAMPLE_ASSET.placeholder,
      poster: EXAMPLE_PLAYBACK.thumbnail,
      hls: EXAMPLE_PLAYBACK.hls,
      dash: EXAMPLE_PLAYBACK.dash,
      mp4: EXAMPLE_PLAYBACK.mp4,
      image: EXAMPLE_PLAYBACK.image,
      expires_at: EXAMPLE_PLAYBACK.expires_at,
    },
  ],
  next_cursor: null,
};
