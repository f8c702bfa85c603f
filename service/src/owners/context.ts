// What the functions of owners need.
import type { Secret } from '../auth/secret.ts';
import type { Config } from '../config.ts';
import type { ServiceJobs } from '../jobs.ts';
import type { Library } from '../library/feature.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { ConcurrencyLimit } from '../platform/concurrency/concurrency-limit.ts';
import type { AsOperator, AsOperatorBytes } from '../platform/http/route.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { ProviderOperations } from '../providers/feature.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Uploads } from '../uploads/feature.ts';

export type OwnersContext = {
  readonly settings: Pick<Config, 'ownerExportLimit'>;
  /** Of this process. */
  readonly limitExports: ConcurrencyLimit;
  readonly db: Database;
  readonly store: ObjectStore;
  readonly jobs: ServiceJobs;
  readonly log: Pick<Logger, 'info'>;
  /** Sign receipts. */
  readonly urlSecrets: readonly Secret[];
  readonly lifecycle: Lifecycle;
  readonly library: Library;
  readonly providers: Pick<ProviderOperations, 'isHosted' | 'removeVideo' | 'releaseEncoder'>;
  readonly uploads: Pick<Uploads, 'discardClosedUploads'>;
  readonly asOperator: AsOperator;
  readonly asOperatorBytes: AsOperatorBytes;
};
