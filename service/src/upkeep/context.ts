// What the functions of upkeep need.
import type { Auth } from '../auth/feature.ts';
import type { Config } from '../config.ts';
import type { EncodingOperations } from '../encoding/feature.ts';
import type { Events } from '../events/feature.ts';
import type { ServiceJobs } from '../jobs.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { Clocks } from '../platform/postgres/database-clock.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { ProviderOperations } from '../providers/feature.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Uploads } from '../uploads/feature.ts';

export type UpkeepContext = {
  readonly settings: Pick<Config, 'eventRetentionDays' | 'purgeGraceDays' | 'webhookRetentionDays'> & {
    readonly delivery: Pick<Config['delivery'], 'purgeUrl' | 'purgeSecrets'>;
  };
  readonly db: Database;
  readonly store: ObjectStore;
  readonly jobs: Pick<ServiceJobs, 'hasOpenJob' | 'send' | 'sendFor'>;
  readonly clocks: Clocks;
  readonly auth: Pick<Auth, 'deleteOldUploadTokens' | 'deleteEndedSessions'>;
  readonly lifecycle: Lifecycle;
  readonly encoding: Pick<
    EncodingOperations,
    'announceDelays' | 'deleteGrowingIndexes' | 'deleteOldEstimates' | 'readIndex'
  >;
  readonly providers: ProviderOperations;
  readonly uploads: Uploads;
  readonly events: Pick<Events, 'deleteOldEndpointDeliveries'>;
  readonly asOperator: AsOperator;
};
