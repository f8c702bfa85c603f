// Erasures of owners, with their receipts.
import { type Static, Type } from 'typebox';
import { NoNextCursor, nullable, Timestamp } from '../common.ts';

export const EraseOwnerQuery = Type.Object({
  leave_provider_videos: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Completes although hosted providers still have videos, for a provider that you cannot reach ' +
        'any more. The receipt lists these videos as `provider_video_left`. Also applies to an erasure ' +
        'that runs.',
    }),
  ),
});

const Wait = Type.Object({
  reason: Type.Enum(['provider', 'cdn', 'encoder', 'jobs', 'upload_urls', 'legal_hold'], {
    description:
      '`provider`: a hosted provider has not confirmed the removal of videos. `cdn`: `CDN_PURGE_URL` ' +
      'has not confirmed purges. `encoder`: your own encoder has not ended jobs. `jobs`: workers end ' +
      'jobs. `upload_urls`: presigned URLs could still store uploads. `legal_hold`: assets stay until ' +
      'their hold is released.',
  }),
  asset_count: Type.Integer({ description: 'Assets that wait for it.' }),
  provider: Type.Optional(Type.String()),
  error: Type.Optional(nullable(Type.String({ description: 'Code of the last failure at the provider.' }))),
  until: Type.Optional(nullable(Timestamp)),
});

const ErasureReceipt = Type.Object(
  {
    statement: Type.String({
      description:
        'JSON as text: `type`, `erasure_id`, `owner_sha256`, `requested_at`, `completed_at`, `assets`, ' +
        '`lines` and `lines_sha256`. `owner_sha256` is the SHA-256 of `<erasure_id>:<owner_user_id>`, ' +
        '`lines_sha256` that of all lines of the receipt before the statement.',
    }),
    signature: Type.String({ description: 'Ed25519 signature of the bytes of `statement`, in base64url.' }),
    public_key: Type.String({ description: 'SPKI in base64.' }),
  },
  { $id: 'ErasureReceipt' },
);

export const Erasure = Type.Object(
  {
    id: Type.String(),
    status: Type.Enum(['running', 'completed']),
    phase: Type.Enum(['closing', 'removing', 'verifying', 'completed'], {
      description:
        '`closing`: assets stop playing. `removing`: bytes, copies and rows are removed. `verifying`: ' +
        'everything is removed once more.',
    }),
    counts: Type.Object({
      asset_count: Type.Integer({ description: 'Assets found so far, those deleted earlier included.' }),
      removed_asset_count: Type.Integer(),
      provider_video_count: Type.Integer({ description: 'Videos at hosted providers.' }),
      removed_provider_video_count: Type.Integer({
        description: 'Removals that the provider has confirmed.',
      }),
    }),
    waiting: Type.Array(Wait, { description: 'What the last pass had to wait for.' }),
    requested_at: Timestamp,
    completed_at: nullable(Timestamp),
    receipt: nullable(ErasureReceipt),
  },
  { $id: 'Erasure' },
);
export type Erasure = Static<typeof Erasure>;

export const ErasureResult = Type.Object({ erasure: Erasure }, { $id: 'ErasureResult' });

export const EXAMPLE_ERASURE: Erasure = {
  id: '019aab7c-7777-7c55-9f0e-000000000003',
  status: 'running',
  phase: 'removing',
  counts: {
    asset_count: 12,
    removed_asset_count: 10,
    provider_video_count: 3,
    removed_provider_video_count: 1,
  },
  waiting: [{ reason: 'provider', asset_count: 2, provider: 'cdnhost', error: 'provider_unreachable' }],
  requested_at: '2026-11-22T10:15:00.000Z',
  completed_at: null,
  receipt: null,
};

export const EXAMPLE_COMPLETED_ERASURE: Erasure = {
  ...EXAMPLE_ERASURE,
  status: 'completed',
  phase: 'completed',
  counts: {
    asset_count: 12,
    removed_asset_count: 12,
    provider_video_count: 3,
    removed_provider_video_count: 3,
  },
  waiting: [],
  completed_at: '2026-11-22T10:16:12.000Z',
  receipt: {
    statement: '{"type":"mediary.owner-erasure.v1","erasure_id":"019aab7c-7777-7c55-9f0e-000000000003"}',
    signature: 'EXAMPLE-signature',
    public_key: 'MCowBQYDK2VwAyEAEXAMPLE',
  },
};

export const ReceiptKeyList = Type.Object(
  {
    items: Type.Array(Type.String({ description: 'SPKI in base64.' })),
    next_cursor: NoNextCursor,
  },
  { $id: 'ReceiptKeyList' },
);
