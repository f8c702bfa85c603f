// Schemas of storage checks: comparisons of the database with the object store and the hosted providers.
import { type Static, Type } from 'typebox';
import { EXAMPLE_ASSET } from '../assets/asset.ts';
import { Cursor, NextCursor, NoNextCursor, nullable, Timestamp } from '../common.ts';

/** What a check finds, and what is lost or wasted by it. */
export const FINDING_KINDS = {
  orphaned_object: 'No row points to this object. It only takes space.',
  unknown_object:
    'The database does not know the asset of this object, or lacks an original that this object may be. ' +
    'This follows from a restore of an older database. It may be the only copy of a file.',
  orphaned_upload: 'An upload in parts that no row points to. It only takes space.',
  original_missing:
    'The original is not stored. It can neither be downloaded nor encoded again, nor an image be rendered ' +
    'in further sizes.',
  size_mismatch: 'The stored original has another size than was recorded: its bytes are damaged.',
  checksum_mismatch: 'The stored original has another SHA-256 than was recorded: its bytes are damaged.',
  renditions_missing:
    'Files that players need are not stored, so the video does not play, or not to its end.',
  thumbnail_missing: 'The thumbnail of the image is not stored.',
  captions_missing: 'A file of captions is not stored: its text is lost.',
  provider_video_missing: 'The hosted provider does not have the video, so it does not play.',
  unlinked_video: 'No asset is linked to this video of a hosted provider. It only costs money.',
} as const;
export type FindingKind = keyof typeof FINDING_KINDS;

/** What `repair` does about a finding. */
const FINDING_REPAIRS = {
  none: 'Nothing: a repair could destroy the only copy, or there is nothing to repair it from.',
  delete_object: 'Deletes the object.',
  abort_upload: 'Deletes the parts.',
  warn: 'Adds the warning `original_missing` to the asset; what was made from the original still plays.',
  fail: 'Sets the asset to `failed` with the failure `original_missing`.',
  process_again: 'Processes the stored original again, as a new attempt.',
  drop_captions: 'Removes the captions from the asset, so that players do not offer them.',
  fail_provider_video: 'Sets the asset to `failed` with the failure `provider_video_missing`.',
  delete_video: 'Deletes the video at the provider.',
} as const;
export type FindingRepair = keyof typeof FINDING_REPAIRS;

const CHECK_STATUSES = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];
/** In the order in which a check passes through them. */
export const CHECK_STAGES = ['objects', 'uploads', 'assets', 'videos'] as const;
export type CheckStage = (typeof CHECK_STAGES)[number];

const describe = (texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts)
    .map(([name, text]) => `\`${name}\`: ${text}`)
    .join(' ');

const kindOf = (kinds: Readonly<Record<string, string>>) => Object.keys(kinds) as FindingKind[];

export const StartCheckRequest = Type.Object(
  {
    repair: Type.Optional(
      Type.Boolean({ default: false, description: 'Default false: change nothing, only report.' }),
    ),
    delete_unknown: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'With `repair`: also delete unknown objects, and provider videos of unknown assets. After a ' +
          'restore of an older database these are the only copies of newer files.',
      }),
    ),
    checksums: Type.Optional(
      Type.Boolean({ default: false, description: 'Read every original and compare its SHA-256.' }),
    ),
    orphan_age_s: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 315_360_000,
        description: 'Younger orphaned objects are not reported. Default: `PURGE_GRACE_DAYS`.',
      }),
    ),
  },
  // A misspelled member must not turn a report into a repair, or the reverse.
  { $id: 'StartCheckRequest', additionalProperties: false, examples: [{ repair: false }] },
);
export type StartCheckRequest = Static<typeof StartCheckRequest>;

export const StorageCheck = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    status: Type.Enum([...CHECK_STATUSES]),
    stage: Type.Enum([...CHECK_STAGES], { description: 'What a running check compares now.' }),
    repair: Type.Boolean(),
    delete_unknown: Type.Boolean(),
    checksums: Type.Boolean(),
    orphan_age_s: Type.Integer(),
    object_count: Type.Integer({ description: 'Objects compared with the database so far.' }),
    asset_count: Type.Integer({ description: 'Assets compared with the object store so far.' }),
    video_count: Type.Integer({ description: 'Videos of hosted providers compared so far.' }),
    finding_count: Type.Integer(),
    repaired_count: Type.Integer(),
    findings_by_kind: Type.Record(Type.String(), Type.Integer(), { description: 'Number by kind.' }),
    skipped_providers: Type.Array(Type.String(), {
      description: 'Providers with videos that could not be asked: not configured here, or not reachable.',
    }),
    error: nullable(Type.String({ description: 'Why the check failed, or why its latest run ended early.' })),
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: nullable(Timestamp),
  },
  { $id: 'StorageCheck' },
);
export type StorageCheck = Static<typeof StorageCheck>;

export const StorageCheckList = Type.Object(
  { items: Type.Array(StorageCheck), next_cursor: NoNextCursor },
  { $id: 'StorageCheckList' },
);

export const ListFindingsQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
  cursor: Type.Optional(Cursor),
  kind: Type.Optional(Type.Enum(kindOf(FINDING_KINDS), { description: 'Only findings of this kind.' })),
});

export const StorageFinding = Type.Object(
  {
    kind: Type.Enum(kindOf(FINDING_KINDS), { description: describe(FINDING_KINDS) }),
    message: Type.String({ description: 'What is lost or wasted, as a sentence.' }),
    asset_id: nullable(Type.String({ format: 'uuid' })),
    key: nullable(Type.String({ description: 'The key of the object.' })),
    provider: nullable(Type.String()),
    provider_video_id: nullable(Type.String()),
    size_bytes: nullable(Type.Integer({ description: 'Stored bytes; null where nothing is stored.' })),
    expected_size_bytes: nullable(Type.Integer({ description: 'Recorded bytes.' })),
    repair: Type.Enum(Object.keys(FINDING_REPAIRS) as FindingRepair[], {
      description: describe(FINDING_REPAIRS),
    }),
    repaired_at: nullable(Timestamp),
    repair_error: nullable(Type.String({ description: 'Why the repair failed.' })),
  },
  { $id: 'StorageFinding' },
);
export type StorageFinding = Static<typeof StorageFinding>;

export const StorageFindingPage = Type.Object(
  { items: Type.Array(StorageFinding), next_cursor: NextCursor },
  { $id: 'StorageFindingPage' },
);

export const EXAMPLE_CHECK: StorageCheck = {
  id: '019aab7c-7777-7c55-9f0e-000000000003',
  status: 'running',
  stage: 'assets',
  repair: false,
  delete_unknown: false,
  checksums: false,
  orphan_age_s: 604_800,
  object_count: 91_204,
  asset_count: 1500,
  video_count: 0,
  finding_count: 1,
  repaired_count: 0,
  findings_by_kind: { original_missing: 1 },
  skipped_providers: [],
  error: null,
  created_at: '2026-11-22T10:20:00.000Z',
  updated_at: '2026-11-22T10:21:12.000Z',
  finished_at: null,
};

export const EXAMPLE_FINDING: StorageFinding = {
  kind: 'original_missing',
  message: FINDING_KINDS.original_missing,
  asset_id: EXAMPLE_ASSET.id,
  key: `originals/${EXAMPLE_ASSET.id}/019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5f`,
  provider: null,
  provider_video_id: null,
  size_bytes: null,
  expected_size_bytes: 48_211_044,
  repair: 'warn',
  repaired_at: null,
  repair_error: null,
};
