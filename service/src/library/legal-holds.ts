// Sets and releases legal holds, for service callers and operators (contract B2).
import { type Actor, type EventData, toActorData } from '../assets/asset-event.ts';
import type { Asset } from '../assets/asset.ts';
import { decideHold, type Hold } from '../lifecycle/decisions/legal-hold.ts';
import { forbidden, notFound } from '../platform/http/errors.ts';
import type { LibraryContext } from './context.ts';

/** A repeated call changes nothing. Throws NOT_FOUND for an asset that is deleted for good. */
export async function changeHold(ctx: LibraryContext, asset: Asset, hold: Hold): Promise<Asset> {
  const updated = await ctx.lifecycle.update(asset, (seen) => decideHold(seen, hold));
  if (!updated) throw notFound('No such asset');
  return updated.asset;
}

/** Finds the asset for an operator. */
export async function changeHoldById(ctx: LibraryContext, id: string, isHeld: boolean): Promise<Asset> {
  const asset = await ctx.lifecycle.findAssetById(id);
  if (!asset) throw notFound('No such asset');
  return changeHold(ctx, asset, { isHeld, actorData: { source: 'operator' } });
}

/** Who changes the hold, by the name of the key. Throws FORBIDDEN for users. */
export function toHolderData(actor: Actor, asset: Asset): EventData {
  const { caller } = actor;
  if (caller.kind !== 'service')
    throw forbidden('A legal hold needs the service key: "X-Service-Key: <key>"');
  const data = toActorData(actor, asset);
  return caller.isOperator ? data : { ...data, key_name: caller.key?.name ?? 'SERVICE_API_KEY' };
}
