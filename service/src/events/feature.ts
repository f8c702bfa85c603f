// Events: the timeline of an asset.
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import { bind } from '../platform/bind.ts';
import * as feedOperations from './feed.ts';
import { timelineRoutes } from './feed.routes.ts';

export const createEvents = ({ db, guards }: AppContext & { readonly guards: Guards }) => ({
  operations: {},
  routes: timelineRoutes(bind({ db }, feedOperations), guards),
  jobs: {},
});
