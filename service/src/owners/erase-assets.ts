// The steps of an erasure: closes the assets of an owner, removes what belongs to them, and verifies it.
import { type Asset, isPurged } from '../assets/asset.ts';
import type { Transaction } from '../platform/postgres/database.ts';
import { assetPrefixes, type ObjectKey } from '../storage/object-key.ts';
import { lastTransferEnd } from '../upkeep/orphan.ts';
import type { OwnersContext } from './context.ts';
import { deleteDeliveries, deleteWorkRows } from './erased-rows.sql.ts';
import * as queries from './erasure.sql.ts';
import type { ErasureRow, ItemRow } from './erasure.sql.ts';
import type { RemovedRows } from './receipt.ts';

/** A transaction removes the rows of one page at most; the objects of some assets are removed at a time. */
const PAGE = 50;
const AT_A_TIME = 8;

/** Deletes the assets for their callers, so that players, requests and jobs stop. Records what to remove. */
export async function closeAssets(
  ctx: OwnersContext,
  { id, owner }: { readonly id: string; readonly owner: string },
  signal: AbortSignal,
): Promise<void> {
  let after = queries.NO_ASSET;
  for (;;) {
    signal.throwIfAborted();
    const assets = await queries.listAssetsOfOwner(ctx.db, owner, { after, limit: PAGE });
    const active = assets.filter((asset) => !isPurged(asset));
    await inGroups(active, async (asset) => [await ctx.library.closeForErasure(asset)]);
    // A request may have linked a video until the asset was closed.
    const closed = await Promise.all(assets.map((asset) => ctx.lifecycle.findAssetById(asset.id)));
    // A legal hold keeps its asset until it is released.
    const items = closed.flatMap((asset) => (asset && isPurged(asset) ? [toItem(ctx, asset)] : []));
    if (items.length > 0) await queries.recordItems(ctx.db, id, items);
    const last = assets[PAGE - 1];
    if (!last) return;
    after = last.id;
  }
}

const toItem = ({ providers, store }: OwnersContext, asset: Asset) => ({
  asset_id: asset.id,
  provider: asset.provider,
  provider_video_id: providers.isHosted(asset) ? asset.provider_video_id : null,
  uploads_end: store.direct && !providers.isHosted(asset) ? (lastTransferEnd(asset) ?? null) : null,
});

/** Jobs that tell others of the deletion: they end by themselves. */
const KEPT_JOBS = ['purge-cdn', 'cancel-encoder-job'] as const;
const WAITS: Readonly<Record<string, string>> = { 'purge-cdn': 'cdn', 'cancel-encoder-job': 'encoder' };

/** Returns how many assets wait, by reason. */
export async function removeAssets(
  ctx: OwnersContext,
  erasure: ErasureRow,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const waits = new Map<string, number>();
  let after = queries.NO_ASSET;
  for (;;) {
    signal.throwIfAborted();
    const items = await queries.listDueItems(ctx.db, erasure.id, { after, limit: PAGE });
    const busy = await removePage(ctx, erasure, items);
    for (const reason of busy.values()) waits.set(reason, (waits.get(reason) ?? 0) + 1);
    const last = items[PAGE - 1];
    if (!last) return waits;
    after = last.asset_id;
  }
}

/** Returns the assets that jobs still work on, and why they wait. */
async function removePage(
  ctx: OwnersContext,
  erasure: ErasureRow,
  items: readonly ItemRow[],
): Promise<ReadonlyMap<string, string>> {
  const ids = idsOf(items);
  const busy = await stopJobs(ctx, ids);
  // Before they are removed, so that a killed run cannot lose what the receipt says.
  const files = await inGroups(ids, (id) => countObjects(ctx, id));
  await queries.addRemovals(ctx.db, erasure.id, { ids, removals: files, state: 'counted' });
  await inGroups(ids, (id) => removeObjects(ctx, id));
  const now = await queries.databaseNow(ctx.db);
  const idle = items.filter(({ asset_id }) => !busy.has(asset_id));
  const { free = [], kept = [] } = Object.groupBy(idle, (item) =>
    isKept(erasure, item, now) ? 'kept' : 'free',
  );
  await queries.addRemovals(ctx.db, erasure.id, { ids: idsOf(kept), removals: [], state: 'removed' });
  await removeRows(ctx, erasure.id, idsOf(free));
  return busy;
}

/** Cancels the jobs that wait. Returns the assets of the others with the reason to wait for them. */
async function stopJobs(
  { jobs, providers }: OwnersContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  await jobs.cancelWaitingJobs(ids, KEPT_JOBS);
  const open = await jobs.listOpenSubjects(ids);
  const told = new Set(open.filter(({ queue }) => queue === 'cancel-encoder-job').map((job) => job.subject));
  for (const id of ids) if (!told.has(id)) await providers.releaseEncoder(id);
  const rest = await jobs.listOpenSubjects(ids);
  return new Map(rest.map(({ subject, queue }) => [subject, WAITS[queue] ?? 'jobs']));
}

/** A provider has its video, or a presigned URL can store an upload. */
const isKept = (erasure: ErasureRow, item: ItemRow, now: Date): boolean =>
  (item.provider_video_id !== null && item.video_removed_at === null && !erasure.leaves_videos) ||
  (item.uploads_end !== null && item.uploads_end > now);

async function countObjects({ store }: OwnersContext, id: string): Promise<RemovedRows[]> {
  const counts: RemovedRows[] = [];
  for (const prefix of assetPrefixes(id)) {
    let count = 0;
    for await (const _key of store.list(prefix)) count += 1;
    if (count > 0) counts.push({ asset_id: id, kind: kindOf(prefix), count });
  }
  return counts;
}

/** Neither PURGE_GRACE_DAYS nor the trash delays an erasure. */
async function removeObjects({ uploads, store }: OwnersContext, id: string): Promise<never[]> {
  await uploads.discardClosedUploads(id);
  for (const prefix of assetPrefixes(id)) await store.removeAll(prefix);
  return [];
}

const kindOf = (prefix: ObjectKey): string => `${prefix.split('/')[0]}_files`;

/** The assets first: their locks end the requests that would write more. */
async function removeRows(ctx: OwnersContext, erasureId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await ctx.db.transaction(async (tx) => {
    const removals = await deleteRows(ctx, tx, { erasureId, ids });
    await queries.addRemovals(tx, erasureId, { ids, removals, state: 'confirmed' });
  });
}

async function deleteRows(
  { lifecycle }: OwnersContext,
  tx: Transaction,
  { erasureId, ids }: { readonly erasureId: string; readonly ids: readonly string[] },
): Promise<RemovedRows[]> {
  return [
    ...(await lifecycle.deleteErasedAssets(tx, ids)),
    ...(await deleteDeliveries(tx, erasureId, ids)),
    ...(await deleteWorkRows(tx, ids)),
  ];
}

/** Removes once more what requests stored while the assets were removed. */
export async function verifyAssets(
  ctx: OwnersContext,
  erasure: ErasureRow,
  signal: AbortSignal,
): Promise<void> {
  let after = queries.NO_ASSET;
  for (;;) {
    signal.throwIfAborted();
    const items = await queries.listItems(ctx.db, erasure.id, { after, limit: PAGE });
    await inGroups(idsOf(items), (id) => removeObjects(ctx, id));
    await removeRows(ctx, erasure.id, idsOf(items));
    const last = items[PAGE - 1];
    if (!last) return;
    after = last.asset_id;
  }
}

const idsOf = (items: readonly ItemRow[]): string[] => items.map((item) => item.asset_id);

/** Some at a time; returns the results of all. */
async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (let first = 0; first < items.length; first += AT_A_TIME)
    results.push(...(await Promise.all(items.slice(first, first + AT_A_TIME).map(work))).flat());
  return results;
}
