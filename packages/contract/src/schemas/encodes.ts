// Running and waiting encodes, for operators.
import { type Static, Type } from 'typebox';
import { AssetId, Cursor, NextCursor, nullable, Timestamp } from './common.ts';

const Encode = Type.Object(
  {
    asset_id: AssetId,
    owner_user_id: Type.String(),
    filename: Type.String(),
    duration_ms: nullable(Type.Integer()),
    attempt: Type.Integer(),
    state: Type.Enum(['running', 'waiting'], {
      description:
        'An encode whose video is playable may wait for its other renditions while others have their turn.',
    }),
    phase: Type.Enum(['first', 'rest'], {
      description:
        '`first`: what makes the video playable. `rest`: its other renditions, in slots of their own.',
    }),
    position: nullable(
      Type.Integer({ description: '1 is the next to run. Those of `first` come first. Null while it runs.' }),
    ),
    queued_at: Timestamp,
    started_at: nullable(Timestamp),
    progress: Type.Integer({ description: 'Percent.' }),
    worker: nullable(Type.String({ description: 'Host name and process id of the worker that runs it.' })),
  },
  { $id: 'Encode' },
);

export const EncodeQueue = Type.Object(
  {
    running: Type.Integer({ description: 'Of all owners.' }),
    waiting: Type.Integer({ description: 'Of all owners.' }),
    items: Type.Array(Encode),
    next_cursor: NextCursor,
  },
  { $id: 'EncodeQueue' },
);

export type EncodeQueue = Static<typeof EncodeQueue>;

export const ListEncodesQuery = Type.Object({
  owner_user_id: Type.Optional(Type.String({ description: 'Only encodes of this owner.' })),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 200 }),
  cursor: Type.Optional(Cursor),
});

export const CancelledEncode = Type.Object(
  { asset_id: AssetId, cancelled: Type.Literal(true) },
  { $id: 'CancelledEncode' },
);

export const EXAMPLE_ENCODE: Static<typeof Encode> = {
  asset_id: '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e',
  owner_user_id: 'user_42',
  filename: 'launch.mp4',
  duration_ms: 62_400,
  attempt: 1,
  state: 'running',
  phase: 'rest',
  position: null,
  queued_at: '2026-11-22T10:15:40.000Z',
  started_at: '2026-11-22T10:15:41.000Z',
  progress: 40,
  worker: 'encoder-1:4711',
};
