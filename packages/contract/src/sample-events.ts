// One sample of each event type, which `mediary trigger` sends: `npm run docs` writes them for the command.
import { DELAY_REASONS, type PublishedEventType } from './enums.ts';
import { type Asset, EXAMPLE_ASSET, EXAMPLE_NEW_ASSET } from './schemas/assets/asset.ts';
import { EventMessage } from './schemas/events.ts';

const UPLOADED: Asset = {
  ...EXAMPLE_NEW_ASSET,
  size_bytes: EXAMPLE_ASSET.size_bytes,
  checksum_sha256: EXAMPLE_ASSET.checksum_sha256,
  uploaded_at: EXAMPLE_ASSET.uploaded_at,
  updated_at: '2026-11-22T10:15:40.000Z',
};

const PROCESSING: Asset = {
  ...UPLOADED,
  stream_status: 'processing',
  expected_playable_at: '2026-11-22T10:16:00.000Z',
  expected_ready_at: '2026-11-22T10:16:10.000Z',
  expected_ready_range: { earliest_at: '2026-11-22T10:15:50.000Z', latest_at: '2026-11-22T10:16:40.000Z' },
  queue_position: 2,
};

const PLAYABLE: Asset = {
  ...EXAMPLE_ASSET,
  stream_status: 'processing',
  ready_at: null,
  progress: 40,
  renditions: EXAMPLE_ASSET.renditions.map((rendition) =>
    rendition.height === 480 ? rendition : { ...rendition, state: 'encoding' },
  ),
};

const FAILED: Asset = {
  ...UPLOADED,
  stream_status: 'failed',
  failure: { code: 'not_media', message: 'The file cannot be read as media.', retryable: true },
};

type Sample = { readonly data: Readonly<Record<string, unknown>>; readonly asset: Asset };

const SAMPLES: Readonly<Record<PublishedEventType, Sample>> = {
  'asset.created': { data: { source: 'caller' }, asset: EXAMPLE_NEW_ASSET },
  'asset.uploaded': { data: { source: 'caller', size_bytes: UPLOADED.size_bytes }, asset: UPLOADED },
  'asset.processing': { data: { source: 'caller' }, asset: PROCESSING },
  'asset.playable': { data: { source: 'webhook' }, asset: PLAYABLE },
  'asset.progress': { data: { source: 'webhook', progress: 40 }, asset: PLAYABLE },
  'asset.delayed': {
    data: {
      source: 'reconcile',
      reason: 'waiting_for_slot',
      message: DELAY_REASONS.waiting_for_slot,
      expected_latest_at: '2026-11-22T10:15:50.000Z',
    },
    asset: PROCESSING,
  },
  'asset.ready': { data: { source: 'webhook' }, asset: EXAMPLE_ASSET },
  'asset.failed': { data: { source: 'service', code: 'not_media' }, asset: FAILED },
  'asset.updated': {
    data: { source: 'caller', fields: ['title'] },
    asset: { ...EXAMPLE_ASSET, title: 'Launch day, final cut', version: 2 },
  },
  'asset.deleted': {
    data: { source: 'caller', restorable: true },
    asset: { ...EXAMPLE_ASSET, version: 2, deleted_at: EXAMPLE_ASSET.updated_at },
  },
  'asset.restored': { data: { source: 'caller' }, asset: { ...EXAMPLE_ASSET, version: 3 } },
  'asset.replaced': {
    data: {
      source: 'service',
      replacement_id: '019ab5a0-1c2d-7e3f-8a4b-5c6d7e8f9a0b',
      restorable_until: '2026-12-24T08:01:31.000Z',
    },
    asset: { ...EXAMPLE_ASSET, filename: 'launch-v2.mp4', version: 2 },
  },
};

/** `at` is the time of the last change of the asset; the command moves all times to now. */
const toEvent = (type: PublishedEventType) => ({
  id: '019aab7c-6b1e-7d02-8c4f-2a1b3c4d5e6f',
  type,
  at: SAMPLES[type].asset.updated_at,
  asset_id: EXAMPLE_ASSET.id,
  owner_user_id: EXAMPLE_ASSET.owner_user_id,
  attempt: 1,
  ...SAMPLES[type],
});

/** JSON: each type with its sentence of the schema, and a sample of the event. */
export const renderSampleEvents = (): string => {
  const samples = EventMessage.anyOf.map((schema) => ({
    description: 'description' in schema && schema.description,
    event: toEvent(schema.properties.type.const),
  }));
  return `${JSON.stringify(samples, undefined, 2)}\n`;
};
