// Decides what a legal hold allows, and how it is set and released: pure, like decide.ts.
import { type Asset, isPurged } from '../../assets/asset.ts';
import { type EventData, newEvent } from '../../assets/asset-event.ts';
import { conflict, notFound } from '../../platform/http/errors.ts';
import type { AssetChange } from './change.ts';

/** Throws CONFLICT: a decision that ends stored bytes calls it, so that no race gets past the hold. */
export function assertNotHeld({ legal_hold: isHeld }: Pick<Asset, 'legal_hold'>): void {
  if (isHeld)
    throw conflict('The asset is under a legal hold, which keeps its bytes until it is released', {
      reason: 'legal_hold',
    });
}

/** `actorData` tells who sets or releases the hold. */
export type Hold = { readonly isHeld: boolean; readonly actorData: EventData };

/** Undefined if nothing changes. Throws NOT_FOUND for an asset whose bytes go already. */
export function decideHold(seen: Asset, { isHeld, actorData }: Hold): AssetChange | undefined {
  if (isPurged(seen)) throw notFound('No such asset');
  if (seen.legal_hold === isHeld) return undefined;
  const reason = isHeld ? 'legal_hold_set' : 'legal_hold_released';
  return {
    set: { legal_hold: isHeld },
    events: [newEvent('asset.updated', { ...actorData, fields: ['legal_hold'], reason })],
    jobs: [],
  };
}
