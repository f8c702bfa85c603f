// Every job of the service: its name, its payload, and what its queue promises.
import type { Jobs, JobSettingsOf } from './platform/job-queue.ts';

export type JobPayloads = {
  /** Makes the renditions of one attempt. */
  'encode-asset': { readonly assetId: string; readonly attempt: number };
  /** Removes what a deleted or cancelled encode has stored. */
  'remove-run-files': { readonly assetId: string; readonly folder: string };
  /** Takes a finished run's report to the onprem door; kept apart so that it can be repeated without encoding again. */
  'deliver-report': { readonly assetId: string; readonly body: string };
  /** Has a video's thumbnail show the picture that is wanted by now. */
  'make-poster': { readonly assetId: string };
  'process-image': { readonly assetId: string };
  /** Removes the bytes that an asset may no longer have. */
  'purge-asset': { readonly assetId: string };
  /** Tells a hosted provider who may play. */
  'protect-video': { readonly assetId: string };
  /** Asks what became of what is waited for. */
  reconcile: Record<never, never>;
  /** Removes videos at hosted providers that no asset is linked to. */
  'remove-stray-videos': Record<never, never>;
  /** Ends uploads whose time is over. */
  'expire-uploads': Record<never, never>;
  /** Removes for good what has been in the trash for long enough. */
  'empty-trash': Record<never, never>;
  /** Forgets Idempotency-Keys after a day. */
  'forget-keys': Record<never, never>;
  /** Makes the months' partitions that are coming, drops those whose time is over. */
  'make-partitions': Record<never, never>;
};

export type ServiceJobs = Jobs<JobPayloads>;

/** A job that is to be started. */
export type StartJob = {
  readonly [N in keyof JobPayloads]: { readonly name: N; readonly payload: JobPayloads[N] };
}[keyof JobPayloads];

/** `encodeConcurrency`: videos that one process encodes at once. */
export const jobSettings = ({
  encodeConcurrency,
}: {
  readonly encodeConcurrency: number;
}): JobSettingsOf<JobPayloads> => ({
  ...JOB_SETTINGS,
  'encode-asset': { ...JOB_SETTINGS['encode-asset'], concurrency: encodeConcurrency },
});

const HOUR = 3600;
const DAY = 24 * HOUR;

export const JOB_SETTINGS: JobSettingsOf<JobPayloads> = {
  'encode-asset': {
    concurrency: 1,
    expireIn: DAY,
    retries: 20,
    retryDelay: 1,
    retryDelayMax: 300,
    fair: true,
  },
  'remove-run-files': { concurrency: 1, expireIn: 10 * 60, retries: 50, retryDelay: 2, retryDelayMax: HOUR },
  'deliver-report': { concurrency: 4, expireIn: 60, retries: 200, retryDelay: 1, retryDelayMax: 600 },
  // Outlasts a report that is on its way.
  'make-poster': { concurrency: 1, expireIn: 10 * 60, retries: 200, retryDelay: 1, retryDelayMax: 600 },
  'process-image': {
    concurrency: 2,
    expireIn: 300,
    retries: 5,
    retryDelay: 2,
    retryDelayMax: 60,
    fair: true,
  },
  'purge-asset': { concurrency: 2, expireIn: 10 * 60, retries: 50, retryDelay: 2, retryDelayMax: HOUR },
  'protect-video': { concurrency: 1, expireIn: 60, retries: 30, retryDelay: 2, retryDelayMax: HOUR },
  reconcile: { concurrency: 1, expireIn: 10 * 60, retries: 2, retryDelay: 10, cron: '* * * * *' },
  'remove-stray-videos': {
    concurrency: 1,
    expireIn: 10 * 60,
    retries: 2,
    retryDelay: 60,
    cron: '52 * * * *',
  },
  'expire-uploads': { concurrency: 1, expireIn: 10 * 60, retries: 2, retryDelay: 10, cron: '*/5 * * * *' },
  'empty-trash': { concurrency: 1, expireIn: 10 * 60, retries: 2, retryDelay: 10, cron: '23 * * * *' },
  'forget-keys': { concurrency: 1, expireIn: 10 * 60, retries: 2, retryDelay: 10, cron: '41 * * * *' },
  'make-partitions': { concurrency: 1, expireIn: 60, retries: 10, retryDelay: 60, cron: '7 * * * *' },
};
