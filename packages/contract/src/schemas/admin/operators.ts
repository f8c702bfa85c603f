// Schemas for operators: webhook deliveries, providers, purges of a CDN.
import { type Static, Type } from 'typebox';
import { DELIVERY_REASONS, type DeliveryReason, PROVIDER_KINDS, PURGE_REASONS } from '../../enums.ts';
import { EXAMPLE_ASSET } from '../assets/asset.ts';
import { Cursor, NextCursor, NoNextCursor, nullable, ProviderName, Timestamp } from '../common.ts';

const Reason = Type.Enum(Object.keys(DELIVERY_REASONS) as DeliveryReason[]);

const filters = {
  provider: Type.Optional(ProviderName),
  asset_id: Type.Optional(Type.String()),
  provider_video_id: Type.Optional(Type.String()),
  processed: Type.Optional(Type.Boolean()),
  reason: Type.Optional(Type.String()),
  created_after: Type.Optional(Type.String({ description: 'ISO 8601, exclusive.' })),
  created_before: Type.Optional(Type.String({ description: 'ISO 8601, exclusive.' })),
};

const summary = {
  id: Type.String(),
  provider: Type.String(),
  provider_video_id: nullable(Type.String()),
  asset_id: nullable(Type.String()),
  processed: Type.Boolean(),
  reason: Reason,
  created_at: Timestamp,
  latency_ms: Type.Integer({ description: 'From receipt until the delivery was recorded.' }),
};

export const ListDeliveriesQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Cursor),
  ...filters,
});

export const DeliverySummary = Type.Object(summary, { $id: 'DeliverySummary' });

export const Delivery = Type.Object(
  {
    ...summary,
    headers: Type.Record(Type.String(), Type.String(), { description: 'Without signatures.' }),
    body: nullable(Type.String({ description: 'As text; null where it is not UTF-8.' })),
    body_base64: Type.String(),
  },
  { $id: 'Delivery' },
);

export const DeliveryPage = Type.Object(
  { items: Type.Array(DeliverySummary), next_cursor: NextCursor },
  { $id: 'DeliveryPage' },
);

export const EXAMPLE_DELIVERY: Static<typeof DeliverySummary> = {
  id: '019aab7c-5555-7c55-9f0e-000000000002',
  provider: 'onprem',
  provider_video_id: null,
  asset_id: EXAMPLE_ASSET.id,
  processed: true,
  reason: 'applied',
  created_at: '2026-11-22T10:16:12.000Z',
  latency_ms: 4,
};

export const ReplayRequest = Type.Object(
  {
    id: Type.Optional(
      Type.String({ description: 'One delivery. Without it: all that match the filters, oldest first.' }),
    ),
    ...filters,
    dry_run: Type.Optional(
      Type.Boolean({ default: true, description: 'Default true: report what would change.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 200 })),
    cursor: Type.Optional(Cursor),
  },
  { $id: 'ReplayRequest', examples: [{ reason: 'parked', dry_run: true }] },
);

export const ReplayResult = Type.Object(
  {
    dry_run: Type.Boolean(),
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        asset_id: nullable(Type.String()),
        processed: Type.Boolean(),
        reason: Reason,
        stream_status_before: nullable(Type.String()),
        stream_status_after: nullable(Type.String()),
        changes: Type.Array(Type.String(), { description: 'Names of the asset members that change.' }),
      }),
    ),
    next_cursor: NextCursor,
  },
  { $id: 'ReplayResult' },
);
export type ReplayResult = Static<typeof ReplayResult>;

const contact = {
  circuit: Type.Object(
    { open: Type.Boolean(), failures: Type.Integer(), open_until: nullable(Timestamp) },
    { description: 'Circuit breaker; of a provider: open while that of any process is.' },
  ),
  last_answer_at: nullable(Timestamp),
  last_failure: nullable(Type.String()),
};

export const ProviderOverview = Type.Object(
  {
    name: ProviderName,
    kind: Type.Enum([...PROVIDER_KINDS]),
    configured: Type.Boolean({ description: 'Webhooks can be verified and videos can be sent.' }),
    capabilities: Type.Object({
      webhooks: Type.Boolean(),
      uploads: Type.Boolean(),
      inspection: Type.Boolean(),
      signed_playback: Type.Boolean(),
      dash: Type.Boolean(),
    }),
    missing_settings: Type.Array(Type.String()),
    ...contact,
    processes: Type.Array(
      Type.Object({
        host: Type.String({ description: 'Host name and process id.' }),
        ...contact,
      }),
      {
        description:
          'The live processes that have called the provider. Each detects failures itself: the one that ' +
          'responds is shown as it is, the others by their latest sign of life, every 10 s.',
      },
    ),
    last_webhook_at: nullable(Timestamp),
    last_webhook_reason: nullable(Type.String()),
  },
  { $id: 'ProviderOverview' },
);
export type ProviderOverview = Static<typeof ProviderOverview>;

export const ProviderList = Type.Object(
  { items: Type.Array(ProviderOverview), next_cursor: NoNextCursor },
  { $id: 'ProviderList' },
);

export const ListCdnPurgesQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
  cursor: Type.Optional(Cursor),
  delivered: Type.Optional(Type.Boolean({ description: 'False: only those that the CDN did not confirm.' })),
});

export const CdnPurge = Type.Object(
  {
    asset_id: Type.String({ description: 'The value of `Cache-Tag` and `Surrogate-Key` of all its files.' }),
    playback_version: Type.Integer({ description: 'Tokens of earlier versions are invalid.' }),
    reason: Type.Enum([...PURGE_REASONS]),
    prefix: Type.String({ description: 'Every URL that starts with it has to be purged.' }),
    attempts: Type.Integer({ description: 'Requests to `CDN_PURGE_URL`.' }),
    last_error: nullable(Type.String()),
    created_at: Timestamp,
    delivered_at: nullable(Timestamp),
  },
  { $id: 'CdnPurge', description: 'The files of an asset that a CDN has to purge.' },
);
export type CdnPurge = Static<typeof CdnPurge>;

export const CdnPurgeList = Type.Object(
  { items: Type.Array(CdnPurge), next_cursor: NextCursor },
  { $id: 'CdnPurgeList' },
);

export const EXAMPLE_CDN_PURGE: CdnPurge = {
  asset_id: EXAMPLE_ASSET.id,
  playback_version: 2,
  reason: 'deleted',
  prefix: `https://cdn.example.com/api/v1/playback/${EXAMPLE_ASSET.id}/`,
  attempts: 1,
  last_error: null,
  created_at: '2026-11-22T10:20:00.000Z',
  delivered_at: '2026-11-22T10:20:01.000Z',
};
