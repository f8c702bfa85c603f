// What the functions of events and of outbound webhooks need.
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { AssetViewContext } from '../assets/asset-view.ts';
import type { Auth } from '../auth/feature.ts';
import type { Secret } from '../auth/secret.ts';
import type { Config } from '../config.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { HeldRequests } from '../platform/concurrency/held-requests.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { Metrics } from '../platform/observability/metrics.ts';
import type { Clocks } from '../platform/postgres/database-clock.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Notifications } from '../platform/postgres/notifications.ts';

export type EventsContext = {
  readonly settings: Pick<Config, 'webhookEndpoints' | 'outboundAllowPrivate' | 'webhookRetentionDays'> & {
    readonly streamLimits: Pick<Config['streamLimits'], 'maxStreamSeconds' | 'replayedPerMinute'>;
  };
  readonly service: {
    readonly metrics: Metrics;
    readonly publicBaseUrl: () => string;
    /** True from the signal to stop until the process ends. */
    readonly isStopping: () => boolean;
  };
  readonly db: Database;
  readonly notifications: Pick<Notifications, 'subscribe'>;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly clocks: Clocks;
  /** Sign the cursors of lists, and encrypt the secrets of webhook endpoints. */
  readonly urlSecrets: readonly Secret[];
  readonly auth: Pick<Auth, 'asService' | 'callerOf' | 'createEventTicket'>;
  readonly lifecycle: Pick<Lifecycle, 'findAssetById'>;
  readonly view: AssetViewContext;
  readonly guards: Guards;
  readonly callerLimits: {
    readonly heldRequests: HeldRequests;
    /** Throws RATE_LIMITED; does nothing where rate limits are off. */
    readonly limitOwner: (ownerUserId: string) => Promise<void>;
  };
};
