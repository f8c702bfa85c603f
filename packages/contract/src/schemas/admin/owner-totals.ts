// Owners by what they store, for operators.
import { type Static, Type } from 'typebox';
import { Cursor, NextCursor, nullable, Timestamp } from '../common.ts';

export const Owner = Type.Object(
  {
    owner_user_id: Type.String(),
    bytes: Type.Integer({
      description: 'Stored originals and captions, including the trash, and open uploads.',
    }),
    assets: Type.Integer({ description: 'Assets, including those in the trash.' }),
    pending: Type.Integer({ description: 'Uploads that are neither completed nor expired.' }),
    max_bytes: nullable(Type.Integer({ description: 'The limit in force. Null: no limit.' })),
    max_assets: nullable(Type.Integer()),
    max_pending: nullable(Type.Integer()),
    counted_at: Timestamp,
  },
  { $id: 'Owner' },
);
export type Owner = Static<typeof Owner>;

export const ListOwnersQuery = Type.Object({
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'A part of `owner_user_id`, in lower or upper case.',
    }),
  ),
  sort: Type.Optional(
    Type.Enum(['bytes', 'assets'], { default: 'bytes', description: 'Largest first. Default: `bytes`.' }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Cursor),
});

export const OwnerPage = Type.Object(
  { items: Type.Array(Owner), next_cursor: NextCursor },
  { $id: 'OwnerPage' },
);

export const EXAMPLE_OWNER: Owner = {
  owner_user_id: 'user_42',
  bytes: 18_412_733,
  assets: 12,
  pending: 1,
  max_bytes: 10_737_418_240,
  max_assets: null,
  max_pending: 20,
  counted_at: '2026-11-22T10:15:00.000Z',
};

export const AssetCounts = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        stream_status: Type.String(),
        provider: nullable(Type.String({ description: 'Null: images.' })),
        asset_count: Type.Integer(),
      }),
    ),
    total: Type.Integer({ description: 'Without the trash.' }),
    counted_at: Timestamp,
  },
  { $id: 'AssetCounts' },
);

export type AssetCounts = Static<typeof AssetCounts>;
