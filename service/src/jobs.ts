// Every job of the service: name, payload and queue settings.
import type { PurgeReason } from '@mediary/contract/enums';
import type { Jobs, JobSettingsOf } from './platform/jobs/job-queue.ts';

type EncodeRunRef = { readonly assetId: string; readonly attempt: number; readonly run: number };

export type JobPayloads = {
  /** Downloads the original of an import, and completes it or starts its transfer to a hosted provider. */
  'import-asset': { readonly assetId: string; readonly attempt: number };
  /** Lets the store copy a file of the operator to the original of an asset, and goes on as an import. */
  'adopt-asset': { readonly assetId: string; readonly attempt: number };
  /** Deletes the source of an adoption, once the asset that has its bytes was accepted. */
  'delete-source': {
    readonly assetId: string;
    readonly uploadId: string;
    readonly url: string;
    readonly version: string;
  };
  /** Sends the original of an import to its hosted provider. */
  'transfer-import': { readonly provider: string; readonly assetId: string; readonly attempt: number };
  /** Cuts a clip from the original of its source and completes it. */
  'clip-asset': { readonly assetId: string; readonly attempt: number };
  /** Encodes what makes a video playable, and all of one rendition. Moves long ones to `encode-long`. */
  'encode-asset': { readonly assetId: string; readonly attempt: number };
  /** The same for long videos. */
  'encode-long': { readonly assetId: string; readonly attempt: number };
  /** Encodes the other renditions of a short video. */
  'encode-rest': EncodeRunRef;
  /** The same for a long video that cannot be divided. */
  'encode-long-rest': EncodeRunRef;
  /** Divides the other renditions of a video into chunks, and waits for them. */
  'encode-divided': EncodeRunRef;
  /** Encodes a part of a long video for a run of `encode-divided`. `bytes`: estimate of its segments. */
  'encode-chunk': EncodeRunRef & {
    readonly batch: number;
    readonly number: number;
    readonly bytes: number;
  };
  /** Hands an attempt over to the operator's own encoder. */
  'ask-encoder': { readonly assetId: string; readonly attempt: number };
  /** Ends the job at the operator's own encoder. */
  'cancel-encoder-job': { readonly assetId: string; readonly attempt: number };
  /** Removes the files of a deleted or cancelled encode run. */
  'remove-run-files': { readonly assetId: string; readonly folder: string };
  /** Sends the report of a finished run to the onprem webhook. A retry of this job does not encode again. */
  'deliver-report': { readonly assetId: string; readonly body: string };
  /** Renders the thumbnail of a video at `poster_time_ms`. */
  'make-poster': { readonly assetId: string };
  /** Makes the storyboard, preview, MP4 and M4A file of a finished run. */
  'make-extras': { readonly assetId: string; readonly folder: string };
  /** Gives the file of a replacement that is ready to the asset that it replaces. */
  'take-over': { readonly assetId: string };
  /** Decodes an image and renders its thumbnail. */
  'process-image': { readonly assetId: string };
  /** Renders a large AVIF variant again, for fewer bytes. `file`: its name. */
  'improve-variant': { readonly assetId: string; readonly file: string };
  /** Removes all objects of a purged asset, and the orphaned uploads of others. */
  'purge-asset': { readonly assetId: string };
  /** Records that a CDN has to purge the files of an asset, and tells it. `prefix`: of their URLs. */
  'purge-cdn': {
    readonly assetId: string;
    readonly playbackVersion: number;
    readonly reason: PurgeReason;
    readonly prefix: string;
  };
  /** Sends the visibility of a video to its hosted provider. */
  'protect-video': { readonly assetId: string };
  /** Work of a hosted provider that a process without its settings left to others. */
  'provider-task': {
    readonly provider: string;
    readonly task: 'inspect' | 'protect' | 'remove' | 'remove-orphaned';
    /** Undefined for `remove-orphaned`. */
    readonly assetId?: string;
  };
  /** Removes everything of an owner. */
  'erase-owner': { readonly erasureId: string };
  /** Removes the videos of an erasure at a hosted provider. */
  'erase-videos': { readonly provider: string; readonly erasureId: string };
  /** Checks every asset whose `reconcile_at` has passed. */
  reconcile: Record<never, never>;
  /** Removes videos at hosted providers that no asset is linked to. */
  'remove-orphaned-videos': Record<never, never>;
  /** Fails expired uploads, and starts imports and clips again whose jobs were lost. */
  'expire-uploads': Record<never, never>;
  /** Compares the database with the object store and the hosted providers. */
  'check-storage': { readonly checkId: string };
  /** Purges assets, and files that were replaced, after TRASH_DAYS. */
  'empty-trash': Record<never, never>;
  /** Deletes assets whose `expires_at` has passed. */
  'expire-assets': Record<never, never>;
  /** Removes objects whose PURGE_GRACE_DAYS have passed. */
  'remove-deferred': Record<never, never>;
  /** Deletes rows of all kinds that have expired: keys, tokens, sessions, estimates, ended processes. */
  'delete-expired-keys': Record<never, never>;
  /** Deletes samples after SAMPLE_RETENTION_H. */
  'delete-old-samples': Record<never, never>;
  /** Counts what every owner stores. */
  'count-owners': Record<never, never>;
  /** Creates the partitions of the coming months and drops expired ones. */
  'maintain-partitions': Record<never, never>;
};

export type ServiceJobs = Jobs<JobPayloads>;

/** A job to send, in the transaction that needs it. It waits until `startAfter`, if set. */
export type JobRequest = {
  readonly [N in keyof JobPayloads]: { readonly name: N; readonly payload: JobPayloads[N] };
}[keyof JobPayloads] & { readonly startAfter?: Date };

/** Concurrency counts the jobs of one process. */
type JobLimits = {
  readonly encodeConcurrency: number;
  readonly importConcurrency: number;
  readonly importTimeoutSeconds: number;
  /** Each has a queue of its own. */
  readonly hostedProviders: readonly string[];
};

export const jobSettings = ({
  encodeConcurrency,
  importConcurrency,
  importTimeoutSeconds,
  hostedProviders,
}: JobLimits): JobSettingsOf<JobPayloads> => {
  // The import itself ends at its timeout, before the queue ends the job.
  const importLimits = { concurrency: importConcurrency, expireIn: importTimeoutSeconds + HOUR / 2 };
  return {
    ...JOB_SETTINGS,
    'import-asset': { ...JOB_SETTINGS['import-asset'], ...importLimits },
    'adopt-asset': { ...JOB_SETTINGS['adopt-asset'], ...importLimits },
    'transfer-import': { ...JOB_SETTINGS['transfer-import'], ...importLimits, providers: hostedProviders },
    ...encodeSettings(encodeConcurrency),
    'provider-task': { ...JOB_SETTINGS['provider-task'], providers: hostedProviders },
    'erase-videos': { ...JOB_SETTINGS['erase-videos'], providers: hostedProviders },
  };
};

/** Divided videos that wait for their chunks need little memory. */
const MORE_DIVIDED = 4;

/** Each kind of work has slots of its own; one owner holds `concurrency` of them at most. */
function encodeSettings(concurrency: number) {
  const shared = { ...LONG_WORK, concurrency: concurrency + 1 };
  return {
    'clip-asset': shared,
    'encode-asset': shared,
    'encode-long': shared,
    'encode-rest': shared,
    'encode-long-rest': shared,
    'encode-divided': { ...shared, concurrency: concurrency + MORE_DIVIDED },
    'encode-chunk': shared,
  } as const;
}

const HOUR = 3600;
const DAY = 24 * HOUR;

/** Owners take turns. */
const LONG_WORK = { expireIn: DAY, retries: 20, retryDelay: 1, retryDelayMax: 300, fair: true } as const;

/** As many retries as deliver-report, whose report they wait for. */
const AFTER_REPORT = { concurrency: 2, retries: 200, retryDelay: 1, retryDelayMax: 600, fair: true } as const;

const SHORT_WORK = { expireIn: 10 * 60, retries: 50, retryDelay: 2, retryDelayMax: HOUR } as const;

const UPKEEP = { concurrency: 1, expireIn: 10 * 60, retries: 2, retryDelay: 10 } as const;

/** An erasure never gives up. */
const ERASURE = { expireIn: DAY, retries: 1_000_000, retryDelay: 2, retryDelayMax: 60 } as const;

export const JOB_SETTINGS: JobSettingsOf<JobPayloads> = {
  'import-asset': { ...LONG_WORK, concurrency: 4 },
  // Slots of their own: a library that is adopted does not delay imports.
  'adopt-asset': { ...LONG_WORK, concurrency: 4 },
  'delete-source': { ...SHORT_WORK, concurrency: 4, expireIn: 300 },
  'transfer-import': { ...LONG_WORK, concurrency: 4, providers: [] },
  ...encodeSettings(1),
  // An original whose SHA-256 is unknown is read first.
  'ask-encoder': { concurrency: 4, expireIn: 2 * HOUR, retries: 30, retryDelay: 2, retryDelayMax: 600 },
  'cancel-encoder-job': { concurrency: 1, expireIn: 60, retries: 20, retryDelay: 2, retryDelayMax: HOUR },
  'remove-run-files': { ...SHORT_WORK, concurrency: 1 },
  'deliver-report': { concurrency: 4, expireIn: 60, retries: 200, retryDelay: 1, retryDelayMax: 600 },
  'make-poster': { ...AFTER_REPORT, expireIn: 10 * 60 },
  'make-extras': { ...AFTER_REPORT, expireIn: 2 * HOUR },
  'take-over': { ...AFTER_REPORT, expireIn: 2 * HOUR },
  'process-image': {
    // Each also waits for the database and the disk.
    concurrency: 4,
    expireIn: 300,
    retries: 5,
    retryDelay: 2,
    retryDelayMax: 60,
    fair: true,
  },
  // One at a time: it takes a process and a core that uploads could use.
  'improve-variant': {
    concurrency: 1,
    expireIn: 300,
    retries: 10,
    retryDelay: 5,
    retryDelayMax: 300,
    fair: true,
  },
  'purge-asset': { ...SHORT_WORK, concurrency: 2 },
  'purge-cdn': { concurrency: 2, expireIn: 60, retries: 100, retryDelay: 1, retryDelayMax: 600 },
  'protect-video': { concurrency: 1, expireIn: 60, retries: 30, retryDelay: 2, retryDelayMax: HOUR },
  'provider-task': { ...SHORT_WORK, concurrency: 1, providers: [] },
  'erase-owner': { ...ERASURE, concurrency: 2 },
  'erase-videos': { ...ERASURE, concurrency: 1, providers: [] },
  reconcile: { ...UPKEEP, schedule: { everyMinutes: 1 } },
  'remove-orphaned-videos': { ...UPKEEP, retryDelay: 60, schedule: { everyMinutes: 60, atMinute: 52 } },
  // It continues where an earlier run has stopped.
  'check-storage': { concurrency: 1, expireIn: DAY, retries: 100, retryDelay: 2, retryDelayMax: 600 },
  'expire-uploads': { ...UPKEEP, schedule: { everyMinutes: 5 } },
  'empty-trash': { ...UPKEEP, schedule: { everyMinutes: 60, atMinute: 23 } },
  'expire-assets': { ...UPKEEP, schedule: { everyMinutes: 1 } },
  'remove-deferred': { ...UPKEEP, expireIn: HOUR, schedule: { everyMinutes: 10 } },
  'delete-expired-keys': { ...UPKEEP, schedule: { everyMinutes: 60, atMinute: 41 } },
  'delete-old-samples': { ...UPKEEP, schedule: { everyMinutes: 60, atMinute: 37 } },
  'count-owners': { ...UPKEEP, expireIn: HOUR, retries: 1, retryDelay: 60, schedule: { everyMinutes: 5 } },
  'maintain-partitions': {
    concurrency: 1,
    expireIn: 60,
    retries: 10,
    retryDelay: 60,
    schedule: { everyMinutes: 60, atMinute: 7 },
  },
};
