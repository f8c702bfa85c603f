// Diagnostics, providers, storage checks and the samples of the last day.
import type { Diagnostics } from '@mediary/contract/schemas/admin/diagnostics';
import type { ProviderOverview } from '@mediary/contract/schemas/admin/operators';
import type { AssetCounts } from '@mediary/contract/schemas/admin/owner-totals';
import type { SampleList, SampleName } from '@mediary/contract/schemas/admin/samples';
import type {
  StartCheckRequest,
  StorageCheck,
  StorageFinding,
} from '@mediary/contract/schemas/admin/storage-checks';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { mediary } from './mediary.ts';
import { byCursor, changeAdmin, type Listing, OPERATORS, readAdmin } from './operators.ts';

const DIAGNOSTICS_TIMEOUT_MS = 120_000;

/** Takes up to 30 s, so only people ask for it again. */
export const diagnosticsQuery = (isDeep: boolean) =>
  queryOptions({
    queryKey: ['diagnostics', isDeep],
    queryFn: ({ signal }) =>
      mediary.request<Diagnostics>({
        method: 'GET',
        path: '/admin/diagnostics',
        query: { deep: isDeep },
        options: { signal, timeoutMs: DIAGNOSTICS_TIMEOUT_MS },
      }),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const providersQuery = queryOptions({
  queryKey: [OPERATORS, 'providers'],
  queryFn: readAdmin<Listing<ProviderOverview>>('/providers'),
  refetchInterval: 10_000,
});

/** Counts are shared for 30 s. */
export const countsQuery = queryOptions({
  queryKey: [OPERATORS, 'counts'],
  queryFn: readAdmin<AssetCounts>('/media/counts'),
  refetchInterval: 30_000,
});

export const hasEnded = ({ status }: StorageCheck): boolean => status !== 'waiting' && status !== 'running';

export const checksQuery = queryOptions({
  queryKey: [OPERATORS, 'checks'],
  queryFn: readAdmin<Listing<StorageCheck>>('/checks'),
  refetchInterval: ({ state }) => (state.data?.items.every(hasEnded) ? 30_000 : 2000),
});

export const checkFindingsQuery = ({ id, updated_at: updatedAt }: StorageCheck) =>
  infiniteQueryOptions({
    queryKey: [OPERATORS, 'checks', id, updatedAt],
    queryFn: readAdmin<Listing<StorageFinding>>(`/checks/${id}/findings`, { limit: 50 }),
    ...byCursor,
  });

export const startCheck = (request: StartCheckRequest) =>
  changeAdmin<StorageCheck>('POST', '/checks', request);
export const cancelCheck = (id: string) => changeAdmin<StorageCheck>('POST', `/checks/${id}/cancel`);

const DAY_MS = 24 * 3_600_000;
/** One point for ten minutes: 144 in a chart. */
const STEP_S = 600;
const NAMES: readonly SampleName[] = [
  'requests_per_s',
  'errors_4xx_per_s',
  'errors_5xx_per_s',
  'request_p95_s',
  'encode_speed_p50',
  'time_to_playable_p50_s',
  'time_to_playable_p95_s',
  'bytes_stored',
  'store_free_bytes',
  'queue_waiting',
];

export const samplesQuery = queryOptions({
  queryKey: ['samples'],
  queryFn: ({ signal }) =>
    readAdmin<SampleList>('/samples', {
      names: NAMES.join(','),
      created_after: new Date(Date.now() - DAY_MS).toISOString(),
      step_s: STEP_S,
    })({ signal }),
  refetchInterval: 60_000,
});
