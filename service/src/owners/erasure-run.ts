// Runs an erasure phase by phase; a killed run is repeated from the start of its phase.
import type { JobPayloads } from '../jobs.ts';
import { deleteInBatches } from '../platform/postgres/delete-in-batches.ts';
import { ProviderError } from '../providers/provider.ts';
import type { OwnersContext } from './context.ts';
import { closeAssets, removeAssets, verifyAssets } from './erase-assets.ts';
import {
  deleteCollections,
  deleteIdempotencyKeys,
  deleteOwnerRows,
  deleteUploadTokens,
} from './erased-rows.sql.ts';
import { completeErasure } from './erasure.ts';
import * as queries from './erasure.sql.ts';
import type { ErasureRow, ItemRow } from './erasure.sql.ts';

/** The next pass while providers, jobs or uploads keep assets. */
const NEXT_PASS_MS = 5000;

export async function runErasure(ctx: OwnersContext, erasureId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const erasure = await queries.findErasure(ctx.db, erasureId);
    if (!erasure || erasure.owner_user_id === null) return;
    const run = { erasure, owner: erasure.owner_user_id, signal };
    if (erasure.phase === 'verifying') return verify(ctx, run);
    const isDone = erasure.phase === 'closing' ? await close(ctx, run) : await remove(ctx, run);
    if (!isDone) return;
  }
}

type ErasureRun = { readonly erasure: ErasureRow; readonly owner: string; readonly signal: AbortSignal };

async function close(ctx: OwnersContext, { erasure: { id }, owner, signal }: ErasureRun): Promise<true> {
  do await closeAssets(ctx, { id, owner }, signal);
  while ((await queries.countUnclosed(ctx.db, owner)).free > 0);
  await queries.setPhase(ctx.db, id, 'removing');
  return true;
}

/** False if some assets have to wait; the next run is queued then. */
async function remove(ctx: OwnersContext, { erasure, owner, signal }: ErasureRun): Promise<boolean> {
  // Legal holds may have been released, and set again before the asset was closed.
  if ((await queries.countUnclosed(ctx.db, owner)).free > 0)
    await closeAssets(ctx, { id: erasure.id, owner }, signal);
  const { free, held } = await queries.countUnclosed(ctx.db, owner);
  await startVideoRemovals(ctx, erasure);
  const busy = await removeAssets(ctx, erasure, signal);
  const waiting = await listWaiting(ctx, erasure, busy);
  if (held > 0) waiting.push({ reason: 'legal_hold', asset_count: held });
  await queries.setWaiting(ctx.db, erasure.id, waiting);
  if (waiting.length === 0 && free === 0) {
    await queries.setPhase(ctx.db, erasure.id, 'verifying');
    return true;
  }
  const startAfter = new Date((await queries.databaseNow(ctx.db)).getTime() + NEXT_PASS_MS);
  const job = { name: 'erase-owner', payload: { erasureId: erasure.id }, startAfter } as const;
  await ctx.db.transaction((tx) => ctx.jobs.sendFor(tx, '', job));
  return false;
}

/** A process that has the settings of a provider removes its videos. */
async function startVideoRemovals({ db, jobs }: OwnersContext, erasure: ErasureRow): Promise<void> {
  if (erasure.leaves_videos) return;
  for (const { provider } of await queries.listWaits(db, erasure.id)) {
    if (provider === null) continue;
    const payload = { provider, erasureId: erasure.id };
    if (!(await jobs.hasOpenJob('erase-videos', payload)))
      await db.transaction((tx) => jobs.send(tx, 'erase-videos', payload));
  }
}

async function listWaiting(
  { db }: OwnersContext,
  erasure: ErasureRow,
  busy: ReadonlyMap<string, number>,
): Promise<object[]> {
  const waits = await queries.listWaits(db, erasure.id);
  const kept = waits.map(({ provider, count, error, until }) =>
    provider === null
      ? { reason: 'upload_urls', asset_count: count, until: until?.toISOString() ?? null }
      : { reason: 'provider', asset_count: count, provider, error },
  );
  return [...kept, ...[...busy].map(([reason, count]) => ({ reason, asset_count: count }))];
}

/** After so many failures in a row the provider is down: the others are left to the next run. */
const MAX_FAILURES = 5;

/** Throws until the provider has confirmed the removal of every video, so that the job is retried. */
export async function eraseVideos(
  ctx: OwnersContext,
  { provider, erasureId }: JobPayloads['erase-videos'],
  signal: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  let inRow = 0;
  let after = queries.NO_ASSET;
  while (inRow < MAX_FAILURES) {
    signal.throwIfAborted();
    const [item] = await queries.listVideoItems(ctx.db, erasureId, { provider, after, limit: 1 });
    if (!item) break;
    const failure = await eraseVideo(ctx, item);
    if (failure) failures.push(failure);
    inRow = failure ? inRow + 1 : 0;
    after = item.asset_id;
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} videos were not removed`);
}

/** Returns why the provider did not confirm the removal; undefined if it did. */
async function eraseVideo(ctx: OwnersContext, item: ItemRow): Promise<ProviderError | undefined> {
  const asset = await ctx.lifecycle.findAssetById(item.asset_id);
  try {
    if (asset) await ctx.providers.removeVideo(asset);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    await queries.recordVideoError(ctx.db, { ...item, video_error: error.failure.code });
    return error;
  }
  await queries.recordVideoRemoval(ctx.db, item);
  return undefined;
}

/** The assets whose jobs one statement looks for, and the jobs that it deletes. */
const BATCH = 5000;

/** Removes the rest, and completes the erasure. */
async function verify(ctx: OwnersContext, { erasure, owner, signal }: ErasureRun): Promise<void> {
  await verifyAssets(ctx, erasure, signal);
  await deleteJobs(ctx, erasure, owner);
  await removeOwnerRows(ctx, erasure.id, owner);
  await completeErasure(ctx, erasure, owner);
  ctx.log.info({ erasure_id: erasure.id }, 'everything of an owner was erased');
}

async function deleteJobs({ db, jobs }: OwnersContext, erasure: ErasureRow, owner: string): Promise<void> {
  let after = queries.NO_ASSET;
  for (;;) {
    const items = await queries.listItems(db, erasure.id, { after, limit: BATCH });
    const ids = items.map((item) => item.asset_id);
    await deleteInBatches((limit) => jobs.deleteEndedJobs(ids, owner, limit));
    const last = items[BATCH - 1];
    if (!last) return;
    after = last.asset_id;
  }
}

async function removeOwnerRows({ db }: OwnersContext, erasureId: string, owner: string): Promise<void> {
  const keys = await deleteInBatches((limit) =>
    deleteIdempotencyKeys(db, { erasureId, ownerUserId: owner }, limit),
  );
  const tokens = await deleteInBatches((limit) => deleteUploadTokens(db, owner, limit));
  const collections = await deleteInBatches((limit) => deleteCollections(db, owner, limit));
  await db.transaction(async (tx) => {
    const rows = await deleteOwnerRows(tx, owner);
    const counts = [
      ...rows,
      { kind: 'idempotency_keys', count: keys },
      { kind: 'upload_tokens', count: tokens },
      { kind: 'collections', count: collections },
    ];
    const removals = counts.map((row) => ({ ...row, asset_id: queries.NO_ASSET }));
    const item = { asset_id: queries.NO_ASSET, provider: null, provider_video_id: null, uploads_end: null };
    await queries.recordItems(tx, erasureId, [item]);
    await queries.addRemovals(tx, erasureId, { ids: [queries.NO_ASSET], removals, state: 'confirmed' });
  });
}
