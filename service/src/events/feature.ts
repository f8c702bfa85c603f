// Events: the timeline of an asset (contract B2).
import { getTimeline } from '@mediary/contract/operations/media';
import type { AppContext } from '../app-context.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import { listTimeline } from './timeline.ts';

export const createEvents = ({ db, guards }: AppContext & { readonly guards: Guards }) => ({
  operations: {},
  routes: [
    guards.ownAsset(getTimeline, async ({ asset, query: { cursor, limit } }) => {
      const { items, next } = await listTimeline({ db }, asset.id, { after: cursor, limit });
      return { items, next_cursor: next };
    }),
  ],
  jobs: {},
});
