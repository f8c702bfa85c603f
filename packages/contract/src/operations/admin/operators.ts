// Operations of operators, guarded by the operator key.
import { TOO_MANY_TO_SORT } from '../media.ts';
import { bytesOperation, jsonOperation } from '../../operation.ts';
import { AssetPage, EXAMPLE_ASSET_PAGE, ListAllAssetsQuery } from '../../schemas/library.ts';
import {
  CdnPurgeList,
  Delivery,
  DeliveryPage,
  EXAMPLE_CDN_PURGE,
  EXAMPLE_DELIVERY,
  ListCdnPurgesQuery,
  ListDeliveriesQuery,
  ProviderList,
  ReplayRequest,
  ReplayResult,
} from '../../schemas/admin/operators.ts';

export const listAllAssets = jsonOperation({
  id: 'listAllAssets',
  method: 'GET',
  path: '/api/v1/admin/media',
  tag: 'Operators',
  auth: 'operator',
  summary: 'List assets of all owners',
  description: 'Lists assets of all owners, newest first unless `sort` says otherwise.',
  query: ListAllAssetsQuery,
  message: 'Assets',
  data: AssetPage,
  example: EXAMPLE_ASSET_PAGE,
  errors: [TOO_MANY_TO_SORT],
});

export const listDeliveries = jsonOperation({
  id: 'listDeliveries',
  method: 'GET',
  path: '/api/v1/admin/deliveries',
  tag: 'Operators',
  auth: 'operator',
  summary: 'List webhook deliveries',
  description: 'Lists webhook deliveries, newest first.',
  query: ListDeliveriesQuery,
  message: 'Deliveries',
  data: DeliveryPage,
  example: { items: [EXAMPLE_DELIVERY], next_cursor: null },
});

export const getDelivery = jsonOperation({
  id: 'getDelivery',
  method: 'GET',
  path: '/api/v1/admin/deliveries/{id}',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Get a webhook delivery',
  description: 'Returns a webhook delivery with its body.',
  message: 'Delivery',
  data: Delivery,
  example: {
    ...EXAMPLE_DELIVERY,
    headers: { 'content-type': 'application/json' },
    body: '{}',
    body_base64: 'e30=',
  },
  errors: [{ code: 'NOT_FOUND', when: 'No such delivery.' }],
});

export const replayDeliveries = jsonOperation({
  id: 'replayDeliveries',
  method: 'POST',
  path: '/api/v1/admin/deliveries/replay',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Replay webhook deliveries',
  description: 'Applies webhook deliveries again; a dry run by default.',
  body: ReplayRequest,
  message: 'Replayed',
  data: ReplayResult,
  example: {
    dry_run: true,
    items: [
      {
        id: EXAMPLE_DELIVERY.id,
        asset_id: EXAMPLE_DELIVERY.asset_id,
        processed: true,
        reason: 'repeat',
        stream_status_before: 'ready',
        stream_status_after: 'ready',
        changes: [],
      },
    ],
    next_cursor: null,
  },
  errors: [{ code: 'NOT_FOUND', when: 'No such delivery.' }],
});

export const listProviders = jsonOperation({
  id: 'listProviders',
  method: 'GET',
  path: '/api/v1/admin/providers',
  tag: 'Operators',
  auth: 'operator',
  summary: 'List providers',
  description: 'Lists the providers with their capabilities, and what all processes know of their health.',
  message: 'Providers',
  data: ProviderList,
  example: {
    items: [
      {
        name: 'onprem',
        kind: 'encoder',
        configured: true,
        capabilities: {
          webhooks: true,
          uploads: true,
          inspection: false,
          signed_playback: true,
          dash: true,
        },
        missing_settings: [],
        circuit: { open: false, failures: 0, open_until: null },
        last_answer_at: null,
        last_failure: null,
        processes: [],
        last_webhook_at: '2026-11-22T10:16:12.000Z',
        last_webhook_reason: 'applied',
      },
    ],
    next_cursor: null,
  },
});

export const listCdnPurges = jsonOperation({
  id: 'listCdnPurges',
  method: 'GET',
  path: '/api/v1/admin/purges',
  tag: 'Operators',
  auth: 'operator',
  summary: 'List purges of a CDN',
  description:
    'Where `CDN_BASE_URL` or `CDN_PURGE_URL` is set, a purge is recorded for each change that makes ' +
    'copies of the files of an asset invalid. `reason` is the change. The purge is sent to ' +
    '`CDN_PURGE_URL`. Purges are listed for `WEBHOOK_RETENTION_DAYS`.',
  query: ListCdnPurgesQuery,
  message: 'Purges',
  data: CdnPurgeList,
  example: { items: [EXAMPLE_CDN_PURGE], next_cursor: null },
});

export const getMetrics = bytesOperation({
  id: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  tag: 'Operators',
  auth: 'operator',
  rateClass: 'none',
  summary: 'Get metrics',
  description:
    'What the process counted and measured since its start, and the state of the database, which is read ' +
    'at most each 30 s. Requests from the same machine need no operator key, unless they come through a ' +
    'proxy or carry other credentials. `HEALTH_PORT` serves it without credentials.',
  response: { mediaTypes: ['text/plain'], description: 'Metrics in the text format of Prometheus.' },
});
