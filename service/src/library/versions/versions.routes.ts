// Shows the versions of an asset's file, and brings the previous one back.
import { listVersions, rollBack } from '@mediary/contract/operations/versions';
import { toActorData } from '../../assets/asset-event.ts';
import { toCallerView } from '../../assets/asset-view.ts';
import type { LibraryContext } from '../context.ts';
import * as versions from './versions.ts';

export const versionRoutes = (ctx: LibraryContext) => [
  ctx.guards.ownAsset(listVersions, ({ asset }) => versions.listVersions(ctx, asset)),
  ctx.guards.changingAsset(rollBack, async ({ asset, actor }) =>
    toCallerView(await versions.rollBack(ctx, asset, toActorData(actor, asset)), ctx.view, actor.caller),
  ),
];
