// Deletes assets permanently or to the trash, when they expire too, and restores them (contract B2).
import { type Asset, isPurged } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import { toEtag } from '../assets/asset-view.ts';
import { awaitsReport, isPosterDue } from '../assets/poster.ts';
import type { AssetChange } from '../lifecycle/decisions/change.ts';
import { decideDeletion, type Deletion, removalOf } from '../lifecycle/decisions/deletion.ts';
import { assertNotHeld } from '../lifecycle/decisions/legal-hold.ts';
import { collectFailuresOfPages } from '../platform/concurrency/collect-failures.ts';
import { notFound } from '../platform/http/errors.ts';
import { assertTrustedClock } from '../platform/postgres/database-clock.ts';
import { toCdnPurges } from './cdn-purge.ts';
import type { LibraryContext } from './context.ts';
import { assertVersion } from './if-match.ts';
import {
  ASSET_EXPIRY_START,
  findExpiredAssets,
  findExpiredTrash,
  hasExpiredAssets,
  TRASH_START,
} from './library.sql.ts';

/**
 * With `isPermanent: false` the asset is restorable for TRASH_DAYS. An asset in the trash is unchanged.
 * `isErasure`: its objects do not wait for PURGE_GRACE_DAYS, also if it is purged already.
 */
type DeleteRequest = {
  readonly isPermanent: boolean;
  readonly isErasure?: boolean;
  readonly ifMatch: string | undefined;
  readonly actorData: EventData;
};
export type DeletedAsset = { readonly id: string; readonly deleted: true };

const DAY_MS = 86_400_000;

/** Playback and downloads stop at once. A job removes the bytes after a permanent deletion or TRASH_DAYS. */
export async function deleteAsset(
  ctx: LibraryContext,
  asset: Asset,
  { isPermanent, isErasure = false, ifMatch, actorData }: DeleteRequest,
): Promise<DeletedAsset> {
  const updated = await ctx.lifecycle.update(asset, (seen, now) => {
    if (isPurged(seen) && !isErasure) throw notFound('No such asset');
    assertVersion(seen, { ifMatch, etagOf: () => toEtag(seen, ctx.view) });
    if (isPurged(seen)) return { set: {}, events: [], jobs: [removalOf(seen)], isErasure };
    if (seen.deleted_at && !isPermanent) return undefined;
    // A replacement has no place of its own to come back to.
    const isFinal = isPermanent || seen.version_of !== null;
    const purgeAt = isFinal ? null : new Date(now.getTime() + ctx.settings.trashDays * DAY_MS);
    const deletion = decideDeletionFor(ctx, seen, { purgeAt, actorData, now });
    return isErasure ? { ...deletion, isErasure } : deletion;
  });
  if (!updated) throw notFound('No such asset');
  return { id: asset.id, deleted: true };
}

/** With the purges of a CDN. The files of an asset in the trash were purged before. */
function decideDeletionFor(ctx: LibraryContext, seen: Asset, deletion: Deletion): AssetChange {
  const change = decideDeletion(seen, deletion);
  const purges = seen.deleted_at ? [] : toCdnPurges(ctx, seen, { reason: 'deleted', now: deletion.now });
  return { ...change, jobs: [...change.jobs, ...purges] };
}

const OWNER_ERASED: EventData = { source: 'operator', reason: 'owner_erased' };

/** Deletes an asset for an erasure of its owner, which removes the bytes itself. A hold keeps the asset. */
export async function closeForErasure(ctx: LibraryContext, asset: Asset): Promise<void> {
  await ctx.lifecycle.update(asset, (seen, now) => {
    if (isPurged(seen) || seen.legal_hold) return undefined;
    const deletion = decideDeletionFor(ctx, seen, { purgeAt: null, actorData: OWNER_ERASED, now });
    return { ...deletion, jobs: deletion.jobs.filter(({ name }) => name !== 'purge-asset'), isErasure: true };
  });
}

/** Restores an asset from the trash, within the quota; an asset outside the trash stays unchanged. */
export const restoreAsset = (ctx: LibraryContext, asset: Asset, actorData: EventData): Promise<Asset> =>
  ctx.usage.underQuota(asset.owner_user_id, () => restoreUnderQuota(ctx, asset, actorData));

async function restoreUnderQuota(ctx: LibraryContext, asset: Asset, actorData: EventData): Promise<Asset> {
  const isReportLost = asset.purge_at !== null && (await hasLostReport(ctx, asset));
  const updated = await ctx.lifecycle.update(asset, (seen) => {
    if (isPurged(seen)) throw notFound('No such asset');
    if (!seen.purge_at) return undefined;
    assertNotHeld(seen);
    const isSame = seen.revision === asset.revision;
    return decideRestore(ctx, seen, { actorData, isReportLost: isReportLost && isSame });
  });
  if (!updated) throw notFound('No such asset');
  return updated.asset;
}

/**
 * True when the report of an encoded video came during the deletion, which ignores it. A report that is still
 * to come names files that another encode would remove.
 */
const hasLostReport = async ({ jobs }: LibraryContext, asset: Asset): Promise<boolean> =>
  awaitsReport(asset) && !(await jobs.hasOpenJob('deliver-report', { assetId: asset.id }));

type Restore = {
  readonly actorData: EventData;
  /** The video is encoded again, although its files are stored. */
  readonly isReportLost: boolean;
};

/** Restarts the processing that the deletion stopped. */
function decideRestore(
  { providers }: LibraryContext,
  seen: Asset,
  { actorData, isReportLost }: Restore,
): AssetChange {
  const set = { deleted_at: null, purge_at: null };
  const restored = { ...seen, ...set };
  const job = restored.stream_status === 'processing' ? providers.startJob(restored) : undefined;
  return {
    set: job && isReportLost ? { ...set, encoded_run: 0 } : set,
    events: [newEvent('asset.restored', actorData)],
    jobs: [
      ...(job ? [job] : []),
      ...(isPosterDue(restored) ? [{ name: 'make-poster', payload: { assetId: seen.id } } as const] : []),
    ],
  };
}

const BATCH = 200;

/** Purges assets whose TRASH_DAYS have passed. Returns how many were due. */
export async function emptyTrash(ctx: LibraryContext): Promise<number> {
  const now = await getTrustedNow(ctx);
  const read = (after: typeof TRASH_START) => findExpiredTrash(ctx.db, { now, after, limit: BATCH });
  return purgeDue(ctx, { start: TRASH_START, read, reason: 'trash_days' });
}

/** Purges assets whose `expires_at` has passed, as their owners could. Returns how many were due. */
export async function expireAssets(ctx: LibraryContext): Promise<number> {
  const now = await getTrustedNow(ctx);
  const read = (after: typeof ASSET_EXPIRY_START) => findExpiredAssets(ctx.db, { now, after, limit: BATCH });
  return purgeDue(ctx, { start: ASSET_EXPIRY_START, read, reason: 'expired' });
}

/** Whether `expireAssets` has something to do. */
export const hasExpired = ({ db }: LibraryContext): Promise<boolean> => hasExpiredAssets(db);

/** The time of the database; a process that is frozen afterwards acts on an earlier one. */
async function getTrustedNow({ clocks }: LibraryContext): Promise<Date> {
  await assertTrustedClock(clocks);
  return clocks.databaseNow();
}

type DueAssets<P> = {
  readonly start: P;
  readonly read: (after: P) => Promise<readonly (Asset & P)[]>;
  readonly reason: 'trash_days' | 'expired';
};

/** Leaves assets that changed meanwhile to the next run. An asset that fails does not delay the others. */
async function purgeDue<P>(ctx: LibraryContext, { start, read, reason }: DueAssets<P>): Promise<number> {
  const actorData: EventData = { source: 'service', reason };
  const { count, failures } = await collectFailuresOfPages({ start, size: BATCH, read }, (asset: Asset & P) =>
    ctx.lifecycle.update(asset, (seen, now) =>
      seen.revision === asset.revision
        ? decideDeletionFor(ctx, seen, { purgeAt: null, actorData, now })
        : undefined,
    ),
  );
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${count} due assets could not be deleted`);
  return count;
}
