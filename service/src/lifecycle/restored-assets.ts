// Restores assets from an archive under their ids: row, timeline and jobs in one transaction.
import type { Asset } from '../assets/asset.ts';
import { type HistoryEvent, newEvent } from '../assets/asset-event.ts';
import { currentTraceparent } from '../platform/observability/tracing.ts';
import type { LifecycleContext } from './context.ts';
import type { AssetChange } from './decisions/change.ts';
import { type Completion, decideCompletion } from './decisions/decide-commands.ts';
import { insertHistory, insertRestored } from './restored-assets.sql.ts';
import { throwRefusal } from './refused-write.sql.ts';

type RestoredAsset = {
  /** Waits for its completion; its original is stored. */
  readonly asset: Asset;
  readonly completion: Completion;
  /** Of revisions below the asset's. */
  readonly history: readonly HistoryEvent[];
};

const HISTORY_PAGE = 1000;

/** Undefined if an asset with this id exists. Throws CONFLICT while the owner is being erased. */
export async function restoreAsset(
  { db, jobs, now }: LifecycleContext,
  { asset, completion, history }: RestoredAsset,
): Promise<Asset | undefined> {
  const traceparent = currentTraceparent();
  const time = now();
  const change = decideRestoration(asset, completion, time);
  const [event] = change.events;
  if (!event) throw new Error('a restored asset has no event');
  const restored = { ...asset, ...change.set, updated_at: time };
  try {
    return await db.transaction(async (tx) => {
      const created = await insertRestored(tx, { asset: restored, event, traceparent });
      if (!created) return undefined;
      for (let first = 0; first < history.length; first += HISTORY_PAGE)
        await insertHistory(tx, created, history.slice(first, first + HISTORY_PAGE));
      for (const job of change.jobs)
        await jobs.sendFor(tx, created.owner_user_id, { ...job, traceparent } as never);
      return created;
    });
  } catch (error) {
    return throwRefusal(error);
  }
}

/** An asset in the trash is processed when it is restored from there. */
function decideRestoration(asset: Asset, completion: Completion, now: Date): AssetChange {
  const change = decideCompletion(asset, completion, now);
  if (!change) throw new Error('a restored asset does not wait for its completion');
  if (!asset.deleted_at) return change;
  const data = { ...completion.actorData, restorable: true };
  return { set: change.set, events: [newEvent('asset.deleted', data)], jobs: [] };
}
