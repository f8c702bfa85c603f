// What the functions of captions need.
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Usage } from '../usage/feature.ts';

export type CaptionsContext = {
  readonly store: ObjectStore;
  readonly now: () => Date;
  readonly log: Pick<Logger, 'warn'>;
  readonly lifecycle: Lifecycle;
  readonly usage: Usage;
  readonly guards: Guards;
  readonly objects: ObjectResponses;
};
