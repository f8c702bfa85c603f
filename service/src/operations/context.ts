// What the functions of operations need.
import type { Secret } from '../auth/secret.ts';
import type { Config } from '../config.ts';
import type { JobPayloads } from '../jobs.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { SpaceGuard } from '../platform/disk/free-space.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { JobQueue } from '../platform/jobs/job-queue.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { Metrics } from '../platform/observability/metrics.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { ProviderOperations } from '../providers/feature.ts';
import type { ObjectStore } from '../storage/object-store.ts';

export type OperationsContext = {
  readonly settings: Config;
  readonly service: {
    readonly version: string;
    /** Without a trailing slash. */
    readonly publicBaseUrl: () => string;
    readonly isStopping: () => boolean;
    readonly metrics: Metrics;
  };
  /** What this process found on its machine at the start. */
  readonly machine: {
    /** Undefined when there is no usable ffmpeg. */
    readonly encoderVersion: string | undefined;
    /** What is missing of ffmpeg; undefined when nothing is. */
    readonly encoderMissing: string | undefined;
    /** The encoder in use. */
    readonly videoEncoder: string;
    readonly canDecodeHeif: boolean;
    /** Protection of the sandbox → whether it is active. */
    readonly protections: Readonly<Record<string, boolean>>;
    readonly storeFolder: string;
    readonly scratchRoot: string;
    /** Host name and process id. */
    readonly host: string;
    readonly requireDatabaseSpace: SpaceGuard;
  };
  readonly db: Database;
  readonly store: ObjectStore;
  readonly jobs: Pick<JobQueue<JobPayloads>, 'control'>;
  readonly lifecycle: Pick<Lifecycle, 'findAssetById' | 'cancelEncoding' | 'cancelImage' | 'cancelBytes'>;
  readonly urlSecrets: readonly Secret[];
  readonly log: Logger;
  readonly now: () => Date;
  readonly providers: Pick<
    ProviderOperations,
    'registry' | 'listCircuits' | 'countWorkers' | 'listWorkers' | 'listProcesses' | 'drainWorker'
  >;
  readonly asOperator: AsOperator;
};

/** A process that runs jobs. */
export type LiveWorker = Awaited<ReturnType<OperationsContext['providers']['listWorkers']>>[number];
