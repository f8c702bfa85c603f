// Deletes assets permanently or to the trash, and restores them (contract B2).
import { type Asset, isPurged } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import { toEtag } from '../assets/asset-view.ts';
import { awaitsReport, isPosterDue } from '../assets/poster.ts';
import type { AssetChange } from '../lifecycle/decisions/change.ts';
import { collectFailuresOfPages } from '../platform/concurrency/collect-failures.ts';
import { conflict, notFound } from '../platform/http/errors.ts';
import { assertTrustedClock } from '../platform/postgres/database-clock.ts';
import { findViolatedConstraint } from '../platform/postgres/database-errors.ts';
import { toCdnPurges } from './cdn-purge.ts';
import type { LibraryContext } from './context.ts';
import { assertVersion } from './if-match.ts';
import { findExpiredTrash, TRASH_START } from './library.sql.ts';

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
    const purgeAt = isPermanent ? null : new Date(now.getTime() + ctx.settings.trashDays * DAY_MS);
    const decided = decideDeletion(seen, { purgeAt, actorData, now });
    const deletion = isErasure ? { ...decided, isErasure } : decided;
    // The files of an asset in the trash were purged before.
    return seen.deleted_at
      ? deletion
      : { ...deletion, jobs: [...deletion.jobs, ...toCdnPurges(ctx, seen, { reason: 'deleted', now })] };
  });
  if (!updated) throw notFound('No such asset');
  return { id: asset.id, deleted: true };
}

type Deletion = { readonly purgeAt: Date | null; readonly actorData: EventData; readonly now: Date };

/** `purgeAt` is null for a permanent deletion. */
const decideDeletion = (seen: Asset, { purgeAt, actorData, now }: Deletion): AssetChange => ({
  set: {
    deleted_at: seen.deleted_at ?? now,
    purge_at: purgeAt,
    version: seen.version + 1,
    playback_version: seen.playback_version + 1,
  },
  events: [newEvent('asset.deleted', { ...actorData, restorable: purgeAt !== null })],
  jobs: purgeAt ? [] : [removalOf(seen)],
});

const removalOf = ({ id: assetId }: Asset) => ({ name: 'purge-asset', payload: { assetId } }) as const;

/** Restores an asset from the trash; an asset outside the trash stays unchanged. */
export async function restoreAsset(ctx: LibraryContext, asset: Asset, actorData: EventData): Promise<Asset> {
  const isReportLost = asset.purge_at !== null && (await hasLostReport(ctx, asset));
  try {
    const updated = await ctx.lifecycle.update(asset, (seen) => {
      if (isPurged(seen)) throw notFound('No such asset');
      if (!seen.purge_at) return undefined;
      const isSame = seen.revision === asset.revision;
      return decideRestore(ctx, seen, { actorData, isReportLost: isReportLost && isSame });
    });
    if (!updated) throw notFound('No such asset');
    return updated.asset;
  } catch (error) {
    if (findViolatedConstraint(error))
      throw conflict('Another asset is linked to this video now', { field: 'provider_video_id' });
    throw error;
  }
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

/**
 * Purges assets whose TRASH_DAYS have passed, unless they changed meanwhile. Returns how many were due. An
 * asset that fails does not delay the others.
 */
export async function emptyTrash(ctx: LibraryContext): Promise<number> {
  await assertTrustedClock(ctx.clocks);
  const now = await ctx.clocks.databaseNow();
  const { count, failures } = await collectFailuresOfPages(
    {
      start: TRASH_START,
      size: BATCH,
      read: (after) => findExpiredTrash(ctx.db, { now, after, limit: BATCH }),
    },
    (asset) => purgeExpired(ctx, asset),
  );
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `${failures.length} of ${count} assets in the trash could not be purged`,
    );
  return count;
}

const EXPIRY: EventData = { source: 'service', reason: 'trash_days' };

const purgeExpired = ({ lifecycle }: LibraryContext, asset: Asset) =>
  lifecycle.update(asset, (seen, now) =>
    seen.revision === asset.revision
      ? decideDeletion(seen, { purgeAt: null, actorData: EXPIRY, now })
      : undefined,
  );
