// Encodes, queues, jobs and processes.
import type { EncodeQueue } from '@mediary/contract/schemas/encodes';
import type { Job, Queue } from '@mediary/contract/schemas/admin/jobs';
import type { WorkerProcess } from '@mediary/contract/schemas/admin/workers';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { byCursor, changeAdmin, type Listing, OPERATORS, readAdmin } from './operators.ts';

/** Polling stops while the page is hidden. Queues are counted every 5 s; workers report every 10 s. */
const POLL_MS = { encodes: 2000, jobs: 4000, queues: 5000, workers: 5000 } as const;
const PAGE_SIZE = 50;

export const encodesQuery = infiniteQueryOptions({
  queryKey: [OPERATORS, 'encodes'],
  queryFn: readAdmin<EncodeQueue>('/encodes', { limit: PAGE_SIZE }),
  ...byCursor,
  refetchInterval: POLL_MS.encodes,
});

export const queuesQuery = queryOptions({
  queryKey: [OPERATORS, 'queues'],
  queryFn: readAdmin<Listing<Queue>>('/queues'),
  refetchInterval: POLL_MS.queues,
});

export type JobFilters = { readonly state: Job['state']; readonly queue: string | undefined };

export const jobsQuery = (filters: JobFilters) =>
  infiniteQueryOptions({
    queryKey: [OPERATORS, 'jobs', filters],
    queryFn: readAdmin<Listing<Job>>('/jobs', { ...filters, limit: PAGE_SIZE }),
    ...byCursor,
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS.jobs,
  });

export const workersQuery = infiniteQueryOptions({
  queryKey: [OPERATORS, 'workers'],
  queryFn: readAdmin<Listing<WorkerProcess>>('/workers', { limit: PAGE_SIZE }),
  ...byCursor,
  refetchInterval: POLL_MS.workers,
});

export const cancelEncode = (assetId: string) => changeAdmin('POST', `/encodes/${assetId}/cancel`);
export const runJobAgain = (id: string) => changeAdmin<Job>('POST', `/jobs/${id}/run-again`);
export const cancelJob = (id: string) => changeAdmin<Job>('POST', `/jobs/${id}/cancel`);
export const drainWorker = (id: string) => changeAdmin('POST', `/workers/${encodeURIComponent(id)}/drain`);
