// What the functions of providers need.
import type { ProviderName } from '../assets/asset.ts';
import type { Secret } from '../auth/secret.ts';
import type { Config } from '../config.ts';
import type { ServiceJobs } from '../jobs.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { Metrics } from '../platform/observability/metrics.ts';
import type { Clocks } from '../platform/postgres/database-clock.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Circuit } from './circuit.ts';
import type { Providers } from './provider.ts';

export type ProvidersContext = {
  readonly settings: Pick<Config, 'providers' | 'maxUploadBytes' | 'encoderCallbackUrl'>;
  readonly service: { readonly publicBaseUrl: () => string; readonly metrics: Metrics };
  readonly db: Database;
  readonly store: Pick<ObjectStore, 'direct' | 'stream'>;
  readonly jobs: Pick<ServiceJobs, 'send'>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly clocks: Clocks;
  /** Sign cursors of lists, and the URLs where encoders download originals. */
  readonly urlSecrets: readonly Secret[];
  readonly registry: Providers;
  /** Circuit breakers of this process by provider: each process detects failures itself. */
  readonly circuits: Map<ProviderName, Circuit>;
  readonly lifecycle: Pick<
    Lifecycle,
    | 'update'
    | 'findAssetById'
    | 'findReportedAsset'
    | 'applyReport'
    | 'recordDelivery'
    | 'recordCheck'
    | 'isErased'
    | 'verifyOriginal'
    | 'refuseAsset'
  >;
  readonly asOperator: AsOperator;
};
