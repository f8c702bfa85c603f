// Events of assets, and the callers that cause them (contract B8).
import type { EventType } from '@mediary/contract/enums';
import type { Caller } from '../auth/caller.ts';
import type { Asset } from './asset.ts';

export type EventData = Readonly<Record<string, unknown>>;
export type NewEvent = { readonly type: EventType; readonly data: EventData };

/** An event that happened before its asset was restored from an archive. */
export type HistoryEvent = NewEvent & {
  readonly id: string;
  readonly created_at: Date;
  /** The asset's revision after the change. */
  readonly revision: number;
};

export const newEvent = (type: EventType, data: EventData = {}): NewEvent => ({ type, data });

/** `ownerUserId`: the owner that a service caller names, or the user itself. */
export type Actor = { readonly caller: Caller; readonly ownerUserId: string };

/** A service caller may name another owner than the asset's. The event records that (contract B2). */
export const toActorData = (
  { caller, ownerUserId }: Actor,
  asset: Pick<Asset, 'owner_user_id'>,
): EventData => ({
  ...(caller.kind === 'service' && caller.isOperator
    ? { source: 'operator' }
    : { source: 'caller', caller: caller.kind }),
  ...(ownerUserId !== asset.owner_user_id && { named_owner: ownerUserId }),
});
