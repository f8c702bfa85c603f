// Who changes an asset, and what the timeline keeps of it.
import type { Caller } from '../auth/caller.ts';
import type { Asset } from './asset.ts';
import type { EventData } from './asset-event.ts';

/** `ownerUserId` is what a service caller named, or the user itself. */
export type Actor = { readonly caller: Caller; readonly ownerUserId: string };

/** A service caller may name somebody else than the owner: accepted, and noted (B2). */
export const toActorData = (
  { caller, ownerUserId }: Actor,
  asset: Pick<Asset, 'owner_user_id'>,
): EventData => ({
  source: 'caller',
  caller: caller.kind,
  ...(ownerUserId !== asset.owner_user_id && { named_owner: ownerUserId }),
});
