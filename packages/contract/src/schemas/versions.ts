// Replacing the file of an asset: the request, and the versions of the file.
import { type Static, Type } from 'typebox';
import { ASSET_KINDS, KEPT_PARTS, STREAM_STATUSES, VERSION_ROLES } from '../enums.ts';
import { EXAMPLE_ASSET } from './assets/asset.ts';
import { NoNextCursor, nullable, Timestamp } from './common.ts';
import { CreateUploadRequest } from './uploads.ts';

const { owner_user_id, ...file } = Type.Pick(CreateUploadRequest, [
  'filename',
  'content_type',
  'mime_type',
  'size_bytes',
  'checksum_sha256',
  'owner_user_id',
]).properties;

export const ReplaceFileRequest = Type.Object(
  {
    ...file,
    keep: Type.Optional(
      Type.Array(Type.Enum([...KEPT_PARTS]), {
        uniqueItems: true,
        description:
          'What the replacement takes over from the current file, as it is now. Default: nothing. Name ' +
          'what still fits the new file, such as captions of the same words at the same times.',
      }),
    ),
    owner_user_id,
  },
  {
    $id: 'ReplaceFileRequest',
    examples: [
      { filename: 'launch-v2.mp4', content_type: 'video', mime_type: 'video/mp4', size_bytes: 18_409_120 },
    ],
  },
);

export type ReplaceFileRequest = Static<typeof ReplaceFileRequest>;

const AssetVersion = Type.Object(
  {
    role: Type.Enum([...VERSION_ROLES], {
      description:
        '`next`: a replacement that is not ready yet. `current`: what plays. `previous`: what played ' +
        'before, until `restorable_until`.',
    }),
    asset_id: nullable(
      Type.String({
        format: 'uuid',
        description: 'The asset that has the file: of `next` the replacement. Null for `previous`.',
      }),
    ),
    kind: Type.Enum([...ASSET_KINDS]),
    filename: Type.String(),
    mime_type: Type.String(),
    size_bytes: nullable(Type.Integer()),
    checksum_sha256: nullable(Type.String()),
    width: nullable(Type.Integer()),
    height: nullable(Type.Integer()),
    duration_ms: nullable(Type.Integer()),
    stream_status: Type.Enum([...STREAM_STATUSES]),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent.' }),
    uploaded_at: nullable(Timestamp),
    replaced_at: nullable(Type.String({ format: 'date-time', description: 'Of `previous` alone.' })),
    restorable_until: nullable(
      Type.String({ format: 'date-time', description: 'Until when `rollback` can bring `previous` back.' }),
    ),
  },
  { $id: 'AssetVersion', description: 'A file that an asset has, had, or is about to have.' },
);

export const AssetVersionPage = Type.Object(
  { items: Type.Array(AssetVersion, { description: 'The newest first.' }), next_cursor: NoNextCursor },
  { $id: 'AssetVersionPage' },
);

export type AssetVersion = Static<typeof AssetVersion>;
export type AssetVersionPage = Static<typeof AssetVersionPage>;

const CURRENT: AssetVersion = {
  role: 'current',
  asset_id: EXAMPLE_ASSET.id,
  kind: 'video',
  filename: 'launch-v2.mp4',
  mime_type: 'video/mp4',
  size_bytes: 18_409_120,
  checksum_sha256: EXAMPLE_ASSET.checksum_sha256,
  width: 1280,
  height: 720,
  duration_ms: 61_900,
  stream_status: 'ready',
  progress: 100,
  uploaded_at: '2026-11-24T08:01:12.000Z',
  replaced_at: null,
  restorable_until: null,
};

export const EXAMPLE_VERSIONS: AssetVersionPage = {
  items: [
    CURRENT,
    {
      ...CURRENT,
      role: 'previous',
      asset_id: null,
      filename: 'launch.mp4',
      size_bytes: 18_412_733,
      duration_ms: 62_400,
      uploaded_at: '2026-11-22T10:15:40.000Z',
      replaced_at: '2026-11-24T08:01:31.000Z',
      restorable_until: '2026-12-24T08:01:31.000Z',
    },
  ],
  next_cursor: null,
};
