// Lists, edits and the timeline of assets.
import { type Static, Type } from 'typebox';
import {
  ASSET_KINDS,
  EVENT_SOURCES,
  EVENT_TYPES,
  SORT_ORDERS,
  STREAM_STATUSES,
  TAG_MATCHES,
  VISIBILITIES,
} from '../enums.ts';
import { Asset, EXAMPLE_ASSET } from './assets/asset.ts';
import {
  AssetId,
  Cursor,
  editableFields,
  NextCursor,
  nullable,
  OwnerUserId,
  ProviderName,
  Timestamp,
} from './common.ts';

const Status = Type.Enum([...STREAM_STATUSES]);

const MAX_FILTER_TAGS = 10;
const MAX_FILTER_METADATA = 5;

/** Filters of every list of assets. Omitted filters are ignored. */
const filters = {
  kind: Type.Optional(Type.Enum([...ASSET_KINDS])),
  stream_status: Type.Optional(Status),
  status: Type.Optional(Type.Enum([...STREAM_STATUSES], { description: 'Alias of `stream_status`.' })),
  provider: Type.Optional(ProviderName),
  external_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Of an owner, one asset at most has it.' }),
  ),
  tag: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: MAX_FILTER_TAGS,
      description: 'Repeat it for several tags.',
      examples: [['launch']],
    }),
  ),
  tag_match: Type.Enum([...TAG_MATCHES], {
    default: 'all',
    description: '`all`: assets with each of the tags. `any`: assets with one of them or more.',
  }),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 255 }), {
      maxProperties: MAX_FILTER_METADATA,
      description:
        'Members of `metadata` on the first level, as in `metadata[order_id]=1042`: text, numbers and ' +
        'booleans.',
      examples: [{ order_id: '1042' }],
    }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Part of the title or file name, in any case.',
    }),
  ),
  created_after: Type.Optional(
    Type.String({ description: 'ISO 8601, exclusive.', examples: ['2026-11-01'] }),
  ),
  created_before: Type.Optional(Type.String({ description: 'ISO 8601, exclusive.' })),
  updated_after: Type.Optional(
    Type.String({
      description:
        'ISO 8601, exclusive. At most `SORTED_LIST_MAX_ASSETS` (10 000) assets may pass the other filters.',
      examples: ['2026-11-01T08:00:00Z'],
    }),
  ),
  expires_before: Type.Optional(
    Type.String({ description: 'ISO 8601, exclusive: assets whose `expires_at` is earlier.' }),
  ),
  deleted: Type.Optional(Type.Boolean({ description: 'True: assets that can be restored.' })),
  count: Type.Optional(Type.Boolean({ description: 'True: `total` holds the number of matching assets.' })),
};

const paging = {
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Cursor),
  sort: Type.Enum([...SORT_ORDERS], {
    default: '-created_at',
    description:
      '`-created_at`: newest first. Other orders than those by `created_at` are for lists of at most ' +
      '`SORTED_LIST_MAX_ASSETS` (10 000) assets. `title`: in lower case; the file name counts for an asset ' +
      'without a title. Assets without a size or duration come last.',
  }),
};

export const ListAssetsQuery = Type.Object({ ...paging, ...filters, owner_user_id: OwnerUserId });

export type ListAssetsQuery = Static<typeof ListAssetsQuery>;

export const AssetQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 60,
      description: 'Seconds to wait for a change, if the asset still has the `ETag` of `If-None-Match`.',
    }),
  ),
  expand: Type.Optional(
    Type.Enum(['collections'], {
      description: '`collections`: the response and its `ETag` contain the collections of the asset.',
    }),
  ),
});

export type AssetQuery = Static<typeof AssetQuery>;

export const ListAllAssetsQuery = Type.Object({
  ...paging,
  ...filters,
  owner_user_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Only assets of this owner.' }),
  ),
});

export const AssetPage = Type.Object(
  { items: Type.Array(Asset), next_cursor: NextCursor, total: Type.Optional(Type.Integer()) },
  { $id: 'AssetPage' },
);

export type AssetPage = Static<typeof AssetPage>;

export const EXAMPLE_ASSET_PAGE: AssetPage = { items: [EXAMPLE_ASSET], next_cursor: null };

/** The body of PATCH. Unknown members are rejected. */
export const UpdateAssetRequest = Type.Object(
  {
    owner_user_id: OwnerUserId,
    ...editableFields,
    visibility: Type.Optional(Type.Enum([...VISIBILITIES])),
    poster_time_ms: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 0,
          maximum: 2 ** 31 - 1,
          description:
            'Videos encoded by this service: the time of the frame that the thumbnail shows. ' +
            'Null: chosen by the service.',
        }),
      ),
    ),
  },
  {
    $id: 'UpdateAssetRequest',
    additionalProperties: false,
    examples: [
      { title: 'Launch day', tags: ['launch'] },
      { focal_point: { x: 0.3, y: 0.6 } },
      { access: { referrers: ['www.example.com'], downloads: false } },
    ],
  },
);

export const DeleteAssetQuery = Type.Object({
  owner_user_id: OwnerUserId,
  trash: Type.Optional(
    Type.Boolean({
      description: '`true` moves the asset to the trash, where it is restorable for `TRASH_DAYS`.',
    }),
  ),
  purge: Type.Optional(
    Type.Boolean({ description: 'The opposite of `trash`: `purge=false` means `trash=true`.' }),
  ),
  erase: Type.Optional(
    Type.Boolean({
      description:
        'Service callers only. `true` removes the stored bytes at once, without `PURGE_GRACE_DAYS`, also ' +
        'those of an asset that was deleted for good before.',
    }),
  ),
});

export const DeletedAsset = Type.Object(
  { id: AssetId, deleted: Type.Literal(true) },
  { $id: 'DeletedAsset' },
);

const TimelineEntry = Type.Object(
  {
    id: Type.String(),
    at: Timestamp,
    type: Type.Enum([...EVENT_TYPES]),
    source: Type.Enum([...EVENT_SOURCES]),
    attempt: nullable(Type.Integer()),
    latency_ms: nullable(Type.Integer({ description: 'Milliseconds since the previous entry.' })),
    sentence: Type.String({ description: 'The entry in plain English.' }),
    details: Type.Object({}, { additionalProperties: true }),
  },
  { $id: 'TimelineEntry' },
);

export const TimelineQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 100 }),
  cursor: Type.Optional(
    Type.String({
      format: 'uuid',
      pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
      description: '`next_cursor` of the previous page.',
    }),
  ),
});

export const TimelinePage = Type.Object(
  { items: Type.Array(TimelineEntry), next_cursor: NextCursor },
  { $id: 'TimelinePage' },
);

export const EXAMPLE_TIMELINE: Static<typeof TimelinePage> = {
  items: [
    {
      id: '019aab7c-4d2e-7c55-9f0e-000000000001',
      at: '2026-11-22T10:15:00.000Z',
      type: 'asset.created',
      source: 'caller',
      attempt: null,
      latency_ms: null,
      sentence: 'The caller created the asset.',
      details: {},
    },
  ],
  next_cursor: null,
};
