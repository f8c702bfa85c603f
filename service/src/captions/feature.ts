// Captions of videos: of callers, and those that video files contain.
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import { bind } from '../platform/bind.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import type { Usage } from '../usage/feature.ts';
import * as captionOperations from './captions.ts';
import { captionRoutes } from './captions.routes.ts';

type Needs = Pick<AppContext, 'store' | 'now' | 'log'> & {
  readonly lifecycle: Lifecycle;
  readonly usage: Usage;
  readonly guards: Guards;
  readonly objects: ObjectResponses;
};

export type Captions = ReturnType<typeof createCaptions>['operations'];

export function createCaptions({ lifecycle, usage, guards, objects, ...needs }: Needs) {
  const captions = bind({ ...needs, ...lifecycle, underQuota: usage.underQuota }, captionOperations);
  return {
    operations: { storeEmbeddedCaptions: captions.storeEmbeddedCaptions },
    routes: captionRoutes(captions, guards, objects),
    jobs: {},
  };
}
