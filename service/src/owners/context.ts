// What the functions of owners need.
import type { Secret } from '../auth/secret.ts';
import type { Captions } from '../captions/feature.ts';
import type { Collections } from '../collections/feature.ts';
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
import type { Usage } from '../usage/feature.ts';

export type OwnersContext = {
  readonly settings: Pick<Config, 'ownerExportLimit' | 'ownerImportLimits' | 'maxUploadBytes' | 'trashDays'>;
  /** Of this process. */
  readonly limitExports: ConcurrencyLimit;
  /** By owner. */
  readonly limitImports: ConcurrencyLimit;
  readonly db: Database;
  readonly store: ObjectStore;
  readonly jobs: ServiceJobs;
  readonly log: Pick<Logger, 'info'>;
  readonly now: () => Date;
  /** Sign receipts. */
  readonly urlSecrets: readonly Secret[];
  readonly lifecycle: Lifecycle;
  readonly library: Library;
  readonly providers: Pick<ProviderOperations, 'isHosted' | 'removeVideo' | 'releaseEncoder'>;
  readonly uploads: Pick<Uploads, 'discardClosedUploads' | 'toRestoredUpload' | 'checkRestoredUpload'>;
  readonly usage: Pick<Usage, 'underQuota'>;
  readonly captions: Pick<Captions, 'storeArchivedCaption'>;
  readonly collections: Collections;
  readonly asOperator: AsOperator;
  readonly asOperatorBytes: AsOperatorBytes;
};
