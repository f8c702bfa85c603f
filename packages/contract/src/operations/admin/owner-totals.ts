// Owners by what they store, and counts of assets, for operators.
import { jsonOperation } from '../../operation.ts';
import {
  AssetCounts,
  EXAMPLE_OWNER,
  ListOwnersQuery,
  Owner,
  OwnerPage,
} from '../../schemas/admin/owner-totals.ts';

export const listOwners = jsonOperation({
  id: 'listOwners',
  method: 'GET',
  path: '/api/v1/admin/owners',
  tag: 'Operators',
  auth: 'operator',
  summary: 'List owners',
  description:
    'Ranks the owners by what they store. A job counts them every five minutes; where counting all of them ' +
    'takes longer than 6 s, it takes 2 % of the time. `counted_at` says when.',
  query: ListOwnersQuery,
  message: 'Owners',
  data: OwnerPage,
  example: { items: [EXAMPLE_OWNER], next_cursor: null },
});

export const getOwner = jsonOperation({
  id: 'getOwner',
  method: 'GET',
  path: '/api/v1/admin/owners/{owner_user_id}',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Get an owner',
  description: 'Returns what an owner stores now, and its limits.',
  message: 'Owner',
  data: Owner,
  example: EXAMPLE_OWNER,
});

export const countAssets = jsonOperation({
  id: 'countAssets',
  method: 'GET',
  path: '/api/v1/admin/media/counts',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Count assets',
  description: 'Counts the assets of all owners by state and provider. Readings are shared for 30 s.',
  message: 'Counts',
  data: AssetCounts,
  example: {
    items: [
      { stream_status: 'ready', provider: 'onprem', asset_count: 1204 },
      { stream_status: 'ready', provider: null, asset_count: 8830 },
    ],
    total: 10_034,
    counted_at: '2026-11-22T10:15:00.000Z',
  },
});
