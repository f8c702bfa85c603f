// Decides what a deletion does to an asset: pure, like decide.ts.
import type { Asset } from '../../assets/asset.ts';
import { type EventData, newEvent } from '../../assets/asset-event.ts';
import type { AssetChange } from './change.ts';
import { assertNotHeld } from './legal-hold.ts';

export type Deletion = { readonly purgeAt: Date | null; readonly actorData: EventData; readonly now: Date };

/** `purgeAt` is null for a permanent deletion. Throws CONFLICT for an asset under a legal hold. */
export function decideDeletion(seen: Asset, { purgeAt, actorData, now }: Deletion): AssetChange {
  assertNotHeld(seen);
  return {
    set: {
      deleted_at: seen.deleted_at ?? now,
      purge_at: purgeAt,
      version: seen.version + 1,
      playback_version: seen.playback_version + 1,
    },
    events: [newEvent('asset.deleted', { ...actorData, restorable: purgeAt !== null })],
    jobs: purgeAt ? [] : [removalOf(seen)],
  };
}

export const removalOf = ({ id: assetId }: Pick<Asset, 'id'>) =>
  ({ name: 'purge-asset', payload: { assetId } }) as const;
