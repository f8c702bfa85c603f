// Lists the versions of an asset's file, brings the previous one back, and forgets it after TRASH_DAYS.
import type { AssetVersion, AssetVersionPage } from '@mediary/contract/schemas/versions';
import type { Asset, AssetFile } from '../../assets/asset.ts';
import type { EventData } from '../../assets/asset-event.ts';
import { findRestorable, toFile } from '../../assets/previous-version.ts';
import { collectFailuresOfPages } from '../../platform/concurrency/collect-failures.ts';
import { notFound } from '../../platform/http/errors.ts';
import { toCdnPurges } from '../cdn-purge.ts';
import type { LibraryContext } from '../context.ts';
import { decideEnd, decideForgetting, decideRollback, type Replacing } from './decide-versions.ts';
import * as queries from './versions.sql.ts';

/** The newest first. A previous file whose time has passed is not shown. */
export async function listVersions(
  { lifecycle, clocks }: LibraryContext,
  asset: Asset,
): Promise<AssetVersionPage> {
  const next = await lifecycle.findReplacement(asset.id);
  const previous = findRestorable(asset, clocks.now());
  return {
    items: [
      ...(next ? [toVersion('next', next)] : []),
      toVersion('current', asset),
      ...(previous ? [toPrevious(asset, previous)] : []),
    ],
    next_cursor: null,
  };
}

type VersionFile = Pick<Asset, 'kind' | 'stream_status' | 'progress'> &
  AssetFile & { readonly id: string | null };

const toVersion = (role: AssetVersion['role'], file: VersionFile): AssetVersion => ({
  role,
  asset_id: file.id,
  kind: file.kind,
  filename: file.filename,
  mime_type: file.mime_type,
  size_bytes: file.size_bytes,
  checksum_sha256: file.checksum_sha256,
  width: file.width,
  height: file.height,
  duration_ms: file.duration_ms,
  stream_status: file.stream_status,
  progress: file.progress,
  uploaded_at: file.uploaded_at?.toISOString() ?? null,
  replaced_at: null,
  restorable_until: null,
});

const toPrevious = ({ kind }: Asset, previous: NonNullable<Asset['previous_version']>): AssetVersion => ({
  ...toVersion('previous', { ...toFile(previous), id: null, kind, stream_status: 'ready', progress: 100 }),
  replaced_at: previous.replaced_at,
  restorable_until: previous.restorable_until,
});

/** A CDN holds the files of public assets. */
export const toReplacing = (ctx: LibraryContext, asset: Asset, now: Date): Replacing => ({
  trashDays: ctx.settings.trashDays,
  now,
  purges: asset.visibility === 'public' ? toCdnPurges(ctx, asset, { reason: 'replaced', now }) : [],
});

/** Throws CONFLICT where no previous file is kept, and for an asset under a legal hold. */
export async function rollBack(ctx: LibraryContext, asset: Asset, actorData: EventData): Promise<Asset> {
  const updated = await ctx.lifecycle.update(asset, (seen, now) => {
    if (seen.deleted_at) throw notFound('No such asset');
    return decideRollback(seen, { ...toReplacing(ctx, seen, now), actorData });
  });
  if (!updated) throw notFound('No such asset');
  return updated.asset;
}

const BATCH = 200;

/** Ends previous files whose TRASH_DAYS have passed, and settles replacements that wait. */
export async function tidyVersions(ctx: LibraryContext): Promise<void> {
  const now = await ctx.clocks.databaseNow();
  const forgotten = await collectFailuresOfPages(
    {
      start: queries.FIRST_PREVIOUS,
      size: BATCH,
      read: (after) => queries.findExpiredVersions(ctx.db, { now, after, limit: BATCH }),
    },
    ({ id }) => ctx.lifecycle.update({ assetId: id }, (seen) => decideForgetting(seen, now)),
  );
  const replacements = await collectFailuresOfPages(
    {
      start: queries.FIRST_REPLACEMENT,
      size: BATCH,
      read: ({ id }) => queries.findDueReplacements(ctx.db, id, BATCH),
    },
    (replacement) => settleReplacement(ctx, replacement),
  );
  const failures = [...forgotten.failures, ...replacements.failures];
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} versions could not be tidied`);
}

/** The job of a replacement ends without a result while its asset is under a legal hold. */
async function settleReplacement(
  { lifecycle }: LibraryContext,
  { id: assetId, is_ended: isEnded }: queries.DueReplacement,
): Promise<void> {
  await lifecycle.update({ assetId }, (seen, now) => {
    if (seen.deleted_at || seen.legal_hold) return undefined;
    if (isEnded) return decideEnd(seen, { reason: 'replaced_asset_deleted', now });
    return { set: {}, events: [], jobs: [{ name: 'take-over', payload: { assetId } }] };
  });
}
